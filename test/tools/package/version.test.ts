import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { capture } from '../../host/n8n/processes';

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

test('npm version changes nothing if the changelog has nothing to release', async () => {
	await expect(npmVersion()).rejects.toThrow();
	expect(await git('status', '--porcelain')).toBe('');
	expect(await git('tag')).toBe('');
});

test('npm version commits and tags the version together with its section', async () => {
	await writeFile(changelog(), '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n');
	await git('commit', '--quiet', '--all', '--message', 'A thing');
	await npmVersion();
	expect(await git('status', '--porcelain')).toBe('');
	expect(await git('tag')).toBe('v7.8.9');
	expect(await readFile(changelog(), 'utf8')).toMatch(/## \[7\.8\.9\] - [\d-]{10}\n\n### Added/);
});
