import { existsSync } from 'node:fs';
import path from 'node:path';
import { LANGUAGES, sayIn, type Language, type Recipe } from './workflow';

const PAGES: Record<Language, string> = { en: 'README.md', 'pt-BR': 'README.pt-BR.md' };

/** The pages that list the recipes, by file name: what each recipe does, and its picture. */
export function pages(recipes: Record<string, Recipe>): Record<string, string> {
	return Object.fromEntries(
		LANGUAGES.map((language) => [PAGES[language], page(recipes, language)]),
	);
}

function page(recipes: Record<string, Recipe>, language: Language): string {
	const say = sayIn(language);
	const intro = say(
		`# Recipes

[Em português](README.pt-BR.md)

Workflows to import with **... > Import > From file** (older n8n: **Import from File**). Each has a note that says what to choose. They use n8n's own nodes in the versions of n8n 2.41.

Deliver after the output **Paid**, or after a trigger on _Paid_ with your product and minimum amount. To hear of failures, choose _Errors to the team, by Telegram_ in each workflow under Settings > **Error workflow**.`,
		`# Receitas

[In English](README.md)

Fluxos para importar com **... > Import > From file** (n8n mais antigo: **Import from File**). Cada um tem uma nota que diz o que escolher. Eles usam os nós do próprio n8n nas versões do n8n 2.41.

Entregue depois da saída **Paid**, ou de um gatilho em _Paid_ com o seu produto e valor mínimo. Para saber de falhas, escolha _Erros para a equipe, por Telegram_ em cada fluxo, em Settings > **Error workflow**.`,
	);
	const entries = Object.entries(recipes).map(([name, recipe]) => {
		const { name: title, notes } = recipe(say);
		const [, ...lines] = (notes[0] ?? '').split('\n');
		const file = `../docs/pictures/examples/${language}/${name}.png`;
		const alt = say(
			`The workflow ${name} in the editor of n8n`,
			`O fluxo ${name} no editor do n8n`,
		);
		// The browser tests make it only once the recipe is there.
		const isThere = existsSync(path.join(__dirname, '..', file));
		return [
			`## ${title}`,
			`[${name}.json](${language}/${name}.json)`,
			asPrettier(lines.join('\n')),
			...(isThere ? [`![${alt}](${file})`] : []),
		].join('\n\n');
	});
	return `${[intro, ...entries].join('\n\n')}\n`;
}

/** Emphasis as the formatter of this repository writes it; a list after an empty line. */
function asPrettier(text: string): string {
	return text
		.replace(/(?<!\*)\*(?!\*)([^*\n]+)\*(?!\*)/g, '_$1_')
		.replace(/^(?!- )(.+)\n(?=- )/gm, '$1\n\n')
		.trim();
}
