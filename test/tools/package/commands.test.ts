import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';
import { ROOT } from '../../host/n8n/paths';
import { capture, endGroup, startGroup } from '../../host/n8n/processes';

const scripts: Record<string, string> = manifest.scripts;
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const markdownIn = (folder: string): string[] =>
	readdirSync(path.join(ROOT, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => path.join(folder, name));

const GUIDES = [...markdownIn('.'), ...markdownIn('docs'), ...markdownIn('.github')];
const SHIPPED = 'nodes/DigitalSales';

/** The scripts that a text tells its reader to run; `npm version` runs one under another name. */
function commandsIn(text: string): string[] {
	const named = text.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start|version)\b)/g);
	return [
		...new Set(
			[...named].map(([, run, short]) => run ?? short?.replace('version', 'preversion') ?? ''),
		),
	];
}

describe.each(GUIDES)('%s', (guide) => {
	const text = read(guide);

	test('names only commands that exist', () => {
		expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commandsIn(text)));
	});

	test('names only files that exist', () => {
		const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)/g)].map(([, link = '']) =>
			path.join(path.dirname(guide), link),
		);
		const files = [...text.matchAll(/`([\w.-]+\/[\w./-]+\.(?:ts|js|cjs|mjs|json|md))`/g)].map(
			([, file = '']) => file,
		);
		const isThere = (file: string): boolean =>
			['', SHIPPED, 'docs', 'test'].some((folder) => existsSync(path.join(ROOT, folder, file)));
		expect([...links, ...files].filter((file) => !isThere(file))).toEqual([]);
	});
});

test('CONTRIBUTING.md explains every command', () => {
	expect(commandsIn(read('CONTRIBUTING.md')).sort()).toEqual(Object.keys(scripts).sort());
});

describe.each(Object.entries(scripts))('npm run %s', (_name, script) => {
	const steps = script.split(' && ').map((step) => step.split(' '));

	test('starts programs that are installed', () => {
		const isThere = ([program = '', , script = '']: string[]): boolean =>
			program === 'npm'
				? script in scripts
				: existsSync(path.join(ROOT, 'node_modules', '.bin', program));
		expect(steps.filter((step) => !isThere(step))).toEqual([]);
	});

	test('works on files that exist', () => {
		const files = steps.flat().filter((word) => /\/.*\.[cm]?[jt]s$/.test(word));
		expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
	});
});

test('npm run check runs scripts that exist', () => {
	const [, , ...commands] = (scripts.check ?? '').split(' ');
	expect(commands.length).toBeGreaterThan(0);
	expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commands));
});

describe('as written', () => {
	describe('the suites', () => {
		const configurations = Object.entries(scripts)
			.filter(([, script]) => /\bjest\b/.test(script))
			.map(([name, script]) => [name, / --config (\S+)/.exec(script)?.[1] ?? 'jest.config.js']);
		let listed: string[];

		beforeAll(async () => {
			const projects = new Set(configurations.map(([, file = '']) => file));
			const list = ['jest', '--listTests', '--projects', ...projects];
			listed = (await capture('npx', list, ROOT)).split('\n');
		});

		test.each(configurations)('npm run %s finds tests', (_name, file = '') => {
			const folder = path.join(ROOT, file === 'jest.config.js' ? 'test' : path.dirname(file));
			expect(listed.filter((name) => name.startsWith(folder))).not.toEqual([]);
		});
	});

	test('npm run sandbox serves its page', async () => {
		const sandbox = startGroup('npm', ['run', '--silent', 'sandbox', '--', '--port', '0'], {
			cwd: ROOT,
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		try {
			const page = await new Promise<string>((resolve) => {
				let output = '';
				sandbox.stdout?.on('data', (chunk: Buffer) => {
					output += chunk.toString();
					const [, url] = /Page\s+(\S+)/.exec(output) ?? [];
					if (url !== undefined) resolve(url);
				});
			});
			expect((await fetch(page)).status).toBe(200);
		} finally {
			await endGroup(sandbox);
		}
	});
});
