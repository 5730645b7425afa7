import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../helpers/n8n/paths';
import { run } from '../../helpers/n8n/processes';
import { messageOf, say } from '../../helpers/n8n/terminal';
import { release } from './release';

const CHANGELOG = path.join(ROOT, 'CHANGELOG.md');

const git = async (...args: string[]): Promise<string> => await run('git', args, ROOT);

/** Releases what CHANGELOG.md lists: sets the version, commits and tags. `kind` is patch, minor, major or a version. */
async function main(kind: string | undefined): Promise<void> {
	if (kind === undefined) throw new Error('Say patch, minor, major or a version.');
	if ((await git('status', '--porcelain')) !== '') throw new Error('Commit your changes first.');
	const text = await readFile(CHANGELOG, 'utf8');
	const day = new Date().toISOString().slice(0, 10);
	// A changelog without changes is refused before anything changes.
	release(text, kind, day);

	const tag = await run('npm', ['version', kind, '--no-git-tag-version'], ROOT);
	await writeFile(CHANGELOG, release(text, tag.slice(1), day));
	await git('commit', '--quiet', '--all', '--message', tag);
	await git('tag', '--annotate', tag, '--message', tag);

	say(`Released as ${tag}. Publish it with: git push --follow-tags`);
}

main(process.argv[2]).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
