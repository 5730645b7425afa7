import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../helpers/n8n/paths';
import { capture } from '../../helpers/n8n/processes';
import { messageOf, say } from '../../helpers/n8n/terminal';
import { release } from './release';

/** `npm version` runs this before it changes anything, so that a failure changes nothing. */
async function main(): Promise<void> {
	const version = process.env.npm_new_version;
	if (version === undefined) throw new Error('Run this by npm version, which names the version.');
	const file = path.join(ROOT, 'CHANGELOG.md');
	const day = new Date().toISOString().slice(0, 10);
	await writeFile(file, release(await readFile(file, 'utf8'), version, day));
	await capture('git', ['add', 'CHANGELOG.md'], ROOT);
}

main().catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
