import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import manifest from '../../../package.json';
import { ROOT } from '../../host/n8n/paths';
import { capture, run } from '../../host/n8n/processes';
import { identityProblems, PLACEHOLDERS, setIdentity } from './identity';

const COPY_MS = 60_000;
const GIVEN = {
	homepage: 'https://github.com/loja-da-maria/n8n-pix',
	author: 'Maria da Silva',
	email: 'maria@loja-da-maria.test',
};
let tracked: string[];
let folder: string;

const read = async (name: string, root = folder): Promise<string> =>
	await readFile(path.join(root, name), 'utf8');

async function npmRun(...args: string[]): Promise<void> {
	const log = `${folder}.log`;
	// What an error quotes is then of this run.
	await rm(log, { force: true });
	await run('npm', ['run', '--silent', ...args], { cwd: folder, log });
}

const argumentsFor = (identity: Partial<typeof GIVEN>): string[] =>
	Object.entries(identity).flatMap(([name, value]) => [`--${name}`, value]);

beforeAll(async () => {
	const listed = await capture('git', ['ls-files', '-z'], ROOT);
	const isThere = (name: string): boolean => name !== '' && existsSync(path.join(ROOT, name));
	tracked = listed.split('\0').filter(isThere);
	folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-identity-'));
	for (const name of tracked) {
		await cp(path.join(ROOT, name), path.join(folder, name));
	}
	await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
}, COPY_MS);
afterAll(async () => {
	await rm(folder, { recursive: true, force: true });
	await rm(`${folder}.log`, { force: true });
});

test.each([
	{ author: 'Zé "D\'Ávila" & Cia' },
	{ email: 'ze@lojaexample.com' },
	{ email: 'ze@example.com.br' },
])('%j is right', (part) => {
	expect(identityProblems({ ...GIVEN, ...part })).toEqual([]);
});

test.each([
	['names no repository', { homepage: 'https://github.com/loja' }],
	['holds a token', { homepage: 'https://user:secret@github.com/loja/n8n-pix' }],
	['holds a quote', { homepage: 'https://github.com/loja/n8n-pix"' }],
	['leads into a repository', { homepage: 'https://github.com/loja/n8n-pix/tree/main' }],
	['is in brackets', { email: '<ze@loja.com.br>' }],
])('an identity is refused that %s', (_what, wrong) => {
	expect(identityProblems({ ...GIVEN, ...wrong })).toHaveLength(1);
});

test.each([
	[{}, /homepage has to be .*\nauthor.name has to be .*\nauthor.email has to be /],
	[{ ...GIVEN, homepage: 'http://github.com/a/b' }, /homepage has to be https:/],
	[{ ...GIVEN, homepage: 'https://github.com/a/b.git' }, /homepage has to be https:/],
	[{ ...GIVEN, homepage: 'https://example.com/a' }, /homepage is a placeholder/],
	[{ ...GIVEN, email: 'maria' }, /author.email has to be an e-mail address, not "maria"/],
])('%j is refused', async (identity, expected) => {
	const before = await read('package.json');
	await expect(setIdentity(argumentsFor(identity), folder)).rejects.toThrow(expected);
	expect(await read('package.json')).toBe(before);
});

describe('once the identity is set', () => {
	beforeAll(async () => {
		await npmRun('identity', '--', ...argumentsFor(GIVEN));
	}, COPY_MS);

	test('only package.json has changed, and says it in every field', async () => {
		const isChanged = await Promise.all(
			tracked.map(async (name) => (await read(name)) !== (await read(name, ROOT))),
		);
		expect(tracked.filter((_name, index) => isChanged[index])).toEqual(['package.json']);
		expect(JSON.parse(await read('package.json'))).toEqual({
			...manifest,
			homepage: GIVEN.homepage,
			repository: { type: 'git', url: `git+${GIVEN.homepage}.git` },
			author: { name: GIVEN.author, email: GIVEN.email },
		});
	});

	test('no placeholder is left in what is public', async () => {
		const texts = await Promise.all(tracked.map(async (name) => [name, await read(name)]));
		const left = texts.filter(([, text]) => PLACEHOLDERS.some((value) => text?.includes(value)));
		expect(left.map(([name]) => name)).toEqual([]);
	});

	test('the check of a release has nothing against it', async () => {
		await expect(npmRun('release:check', '--', 'v0.0.0')).rejects.toThrow(
			/^(?![^]*(homepage|repository|author))/,
		);
	});
});
