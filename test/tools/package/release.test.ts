import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { capture } from '../../host/n8n/processes';
import { identityProblems, notesOf, publishingCommands, release, releaseProblems } from './release';

const INTRODUCTION = '# Changelog\n\nAll notable changes.\n\n';
const CHANGES = '### Added\n\n- A thing, see [its guide](guide.md).';

describe('a release in the changelog', () => {
	test('gets what was unreleased, above the older ones', () => {
		const text = `${INTRODUCTION}## [Unreleased]\n\n${CHANGES}\n\n## [0.1.0] - 2026-01-02\n\nFirst.\n`;

		const released = release(text, '0.2.0', '2026-03-04');

		expect(released).toBe(
			`${INTRODUCTION}## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n${CHANGES}\n\n## [0.1.0] - 2026-01-02\n\nFirst.\n`,
		);
		expect(notesOf(released, '0.2.0')).toBe(CHANGES);
		expect(notesOf(released, '0.1.0')).toBe('First.');
	});

	test('may be the first', () => {
		const released = release(
			`${INTRODUCTION}## [Unreleased]\n\n${CHANGES}\n`,
			'0.1.0',
			'2026-01-02',
		);
		expect(notesOf(released, '0.1.0')).toBe(CHANGES);
		expect(() => release(released, '0.1.1', '2026-01-03')).toThrow('nothing under');
	});

	test('is not made of headings alone', () => {
		const headings = `${INTRODUCTION}## [Unreleased]\n\n### Added\n\n### Fixed\n`;
		expect(() => release(headings, '0.2.0', '2026-03-04')).toThrow('nothing under');
		const released = headings.replace('Unreleased', '0.2.0');
		expect(() => notesOf(released, '0.2.0')).toThrow('says nothing of');
	});

	test('is not found under another number', () => {
		const text = `${INTRODUCTION}## [0.10.0] - 2026-01-02\n\nFirst.\n`;
		expect(() => notesOf(text, '0.1.0')).toThrow('no section');
		expect(() => notesOf(text, '10.0')).toThrow('no section');
	});

	test('can be made of the changelog of this project', () => {
		const text = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
		expect(text).toContain('\n## [Unreleased]\n');
	});
});

describe('npm version', () => {
	const COPIED = ['.npmrc', '.gitignore', 'package.json', 'package-lock.json', 'tsconfig.json'];
	let folder: string;
	const changelog = (): string => path.join(folder, 'CHANGELOG.md');
	const git = async (...args: string[]): Promise<string> => await capture('git', args, folder);
	const npmVersion = async (): Promise<string> =>
		await capture('npm', ['version', '7.8.9', '--ignore-scripts=false'], folder);

	beforeEach(async () => {
		folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-version-'));
		for (const name of [...COPIED, 'test/tools/package', 'test/host/n8n']) {
			await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
		}
		await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
		await writeFile(changelog(), '# Changelog\n\n## [Unreleased]\n\n### Added\n');
		await git('init', '--quiet');
		await git('config', 'user.name', 'Test');
		await git('config', 'user.email', 'test@example.test');
		await git('add', '.');
		await git('commit', '--quiet', '--message', 'All');
	});
	afterEach(async () => await rm(folder, { recursive: true, force: true }));

	test('changes nothing if the changelog has nothing to release', async () => {
		await expect(npmVersion()).rejects.toThrow();
		expect(await git('status', '--porcelain')).toBe('');
		expect(await git('tag')).toBe('');
	});

	test('commits and tags the version together with its section', async () => {
		await writeFile(changelog(), '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n');
		await git('commit', '--quiet', '--all', '--message', 'A thing');
		await npmVersion();
		expect(await git('status', '--porcelain')).toBe('');
		expect(await git('tag')).toBe('v7.8.9');
		expect(await readFile(changelog(), 'utf8')).toMatch(/## \[7\.8\.9\] - [\d-]{10}\n\n### Added/);
	});
});

describe('who publishes', () => {
	const homepage = 'https://github.com/loja-da-maria/n8n-pix';
	const email = 'maria@loja-da-maria.test';
	const problemsOf = (given: { homepage?: string; name?: string; email?: string }): string[] => {
		const identity = { homepage, name: 'Maria da Silva', email, ...given };
		return identityProblems({
			homepage: identity.homepage,
			author: { name: identity.name, email: identity.email },
			repository: { url: `git+${identity.homepage}.git` },
		});
	};

	test.each([{ name: 'Zé "D\'Ávila" & Cia' }, { email: 'ze@lojaexample.com' }, {}])(
		'%j is right',
		(given) => {
			expect(problemsOf(given)).toEqual([]);
		},
	);

	test.each([
		['names no repository', { homepage: 'https://github.com/loja' }, 'has to be https:'],
		['holds a token', { homepage: 'https://me:secret@github.com/a/b' }, 'has to be https:'],
		['leads into a repository', { homepage: `${homepage}/tree/main` }, 'has to be https:'],
		['is that of a git', { homepage: `${homepage}.git` }, 'has to be https:'],
		['is not encrypted', { homepage: 'http://github.com/a/b' }, 'has to be https:'],
		['is a stand-in', { homepage: 'https://example.com/a' }, 'is a placeholder'],
		['is nobody', { name: '' }, 'has to be a name'],
		['is in brackets', { email: '<ze@loja.com.br>' }, 'has to be an e-mail address'],
	])('is refused if it %s', (_what, given, problem) => {
		expect(problemsOf(given)).toEqual([expect.stringContaining(problem)]);
	});

	test('has the repository of its homepage', () => {
		const other = { url: 'git+https://github.com/other/n8n-pix.git' };
		expect(
			identityProblems({ homepage, author: { name: 'Maria', email }, repository: other }),
		).toEqual([`repository.url has to be "git+${homepage}.git".`]);
	});

	test('is checked with the tag and the changelog before anything is published', () => {
		const identity = { homepage, author: { name: 'Maria', email }, repository: { url: '' } };
		const problems = releaseProblems('v1.0.0', { ...identity, version: '1.0.1' }, INTRODUCTION);
		expect(problems).toEqual([
			'The tag is "v1.0.0", the version "1.0.1".',
			expect.stringContaining('no section "## [1.0.1]"'),
			expect.stringContaining('repository.url'),
		]);
	});
});

describe('the publishing workflow', () => {
	const workflow = (...steps: string[]): string =>
		['jobs:', '  publish:', '    steps:', ...steps.map((step) => `      - ${step}`), ''].join('\n');
	const PUBLISH = 'run: npm publish --access public';

	test('is rehearsed in its order', () => {
		const uses = 'uses: actions/checkout@1\n        with:\n          a: b';
		const text = workflow(uses, 'run: npm ci', PUBLISH);
		expect(publishingCommands(text)).toEqual(['npm ci', 'npm publish --access public']);
	});

	test.each([
		'name: Check\n        run: npm test',
		'run: |\n          npm test',
		'run: a\n        if: b',
	])('has no step that would be left out or changed: %j', (step) => {
		expect(() => publishingCommands(workflow(step, PUBLISH))).toThrow('cannot be rehearsed');
	});

	test('publishes last', () => {
		expect(() => publishingCommands(workflow(PUBLISH, 'run: npm ci'))).toThrow('does not publish');
	});

	test('of this project can be rehearsed', () => {
		const text = readFileSync(path.join(ROOT, '.github', 'workflows', 'publish.yml'), 'utf8');
		expect(publishingCommands(text)).toHaveLength(text.match(/\brun:/g)?.length ?? 0);
	});
});
