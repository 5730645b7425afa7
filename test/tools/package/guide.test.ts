import { readFileSync } from 'node:fs';
import path from 'node:path';
import { chargeForm } from '../../../nodes/DigitalSales/actions/transaction/create.form';
import { ROOT } from '../../helpers/n8n/paths';
import { everyProperty, filesOf, FORMS } from '../../helpers/forms';

const textOf = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');

const COMMON_MESSAGES = '## Dez mensagens comuns, em português';
const TRANSLATIONS: Record<string, string> = {
	'README.md': 'docs/leia-me.md',
	'docs/guide.md': 'docs/guia.md',
	'docs/troubleshooting.md': 'docs/problemas.md',
};
/** What both languages say. */
const PAIRS = Object.entries(TRANSLATIONS).map(([english, portuguese]) => ({
	page: portuguese,
	english: textOf(english),
	portuguese: textOf(portuguese).split(COMMON_MESSAGES)[0] ?? '',
}));

function matches(text: string, pattern: RegExp): string[] {
	return [...text.matchAll(pattern)].map(([whole, inner]) => inner ?? whole);
}

/** The levels of the headings, and the text of a heading that names an operation. */
function headingsOf(text: string): string[] {
	return matches(text, /^#+ .+$/gm).map((heading) =>
		heading.includes(' > ') ? heading : heading.replace(/[^#].*/, ''),
	);
}

/** The number of lines of each table. */
function tablesOf(text: string): number[] {
	return matches(text, /(?:^\|.*\n)+/gm).map((table) => table.split('\n').length - 1);
}

/** Texts in backticks: fields, messages, commands, amounts. */
function codeOf(text: string): string[] {
	return [...new Set(matches(text, /`([^`\n]+)`/g))].sort();
}

const LABELS = FORMS.flatMap(({ properties }) =>
	everyProperty(properties).flatMap(({ property: { displayName, type, options = [] } }) => [
		...(type === 'notice' ? [] : [displayName.replace(/ in (Cents|Reais)$/, '')]),
		...options.flatMap((option) => ('value' in option ? [option.name] : [])),
	]),
);

/** The labels of fields and choices that a page names in bold. */
function labelsOf(text: string): string[] {
	const bold = matches(text, /\*\*(.+?)\*\*/g).map((name) =>
		name.replace(/ in (Cents|Reais)$/, ''),
	);
	return [...new Set(LABELS)].filter((label) => bold.includes(label)).sort();
}

/** The names in bold of each numbered step, without the title of the step. */
function namesInSteps(text: string): string[][] {
	const steps = matches(text, /^\d+\. (?:\*\*[^*]+\.\*\* )?(.+)$/gm);
	return steps.map((step) => matches(step, /\*\*(.+?)\*\*/g).sort());
}

describe.each([
	['the same headings', headingsOf],
	['tables of the same length', tablesOf],
	['the same fields, messages and commands', codeOf],
	['the same labels', labelsOf],
	['the same names on the screen in each step', namesInSteps],
])('A page in Portuguese has %s:', (_what, partsOf) => {
	test.each(PAIRS)('$page', ({ english, portuguese }) => {
		expect(partsOf(english)).not.toEqual([]);
		expect(partsOf(portuguese)).toEqual(partsOf(english));
	});
});

test.each([
	['README.md', 'troubleshooting.md#the-request-for-a-charge-has-other-names'],
	['docs/leia-me.md', 'problemas.md#a-requisição-de-cobrança-usa-outros-nomes'],
])(
	'%s names fields that a charge sends, and one that it does not, to recognize a platform',
	(page, otherNames) => {
		const [paragraph = ''] = matches(textOf(page), /^.*`offer_hash`.*$/gm);
		const sent = chargeForm.fields.flatMap(({ sentAs }) => sentAs ?? []);

		expect(codeOf(paragraph)).toEqual([
			'/products',
			'/public/v1',
			'/transactions',
			'cart',
			'offer_hash',
			'postback_url',
			'webhook_url',
		]);
		expect(sent).toEqual(expect.arrayContaining(['webhook_url', 'cart', 'cart.*.offer_hash']));
		expect(sent.filter((field) => /^offer_hash$|postback_url/.test(field))).toEqual([]);
		expect(paragraph).toContain(otherNames);
	},
);

test.each([
	['docs/troubleshooting.md', 2],
	['docs/problemas.md', 2 + 10],
])('the code has each message that %s explains', (page, count) => {
	const sources = [...filesOf('nodes', '.ts'), ...filesOf('credentials', '.ts')].map(textOf);
	const code = sources.join('\n').replaceAll(/\$\{[^}]*\}/g, '…');

	const messages = matches(textOf(page), /^\|[^|`]*`([^`]+)`/gm);

	expect(messages).toHaveLength(count);
	expect(messages.filter((message) => !code.includes(message))).toEqual([]);
});
