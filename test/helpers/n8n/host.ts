import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { HOST_CONFIGURATION, HOST_FOLDER } from './paths';
import { run } from './processes';
import { say, step } from './terminal';

const MODULES = path.join(HOST_FOLDER, 'node_modules');

/** The Node.js that n8n runs on, and the script that starts n8n. */
export const HOST = {
	node: path.join(MODULES, 'node', 'bin', 'node'),
	n8n: path.join(MODULES, 'n8n', 'bin', 'n8n'),
};

/** Loads a dependency of n8n. */
export const requireOfHost = createRequire(path.join(HOST_FOLDER, 'package.json'));

/** The oldest supported n8n has no lockfile here, because a lockfile is a megabyte. */
const CONFIGURATION_FILES = ['package.json', 'package-lock.json', '.npmrc'];
/** Only a finished installation has this file. */
const MARKER = path.join(HOST_FOLDER, 'installed');

/** Installs the pinned n8n and a Node.js for it, unless a complete and current installation exists. */
export async function installHost(): Promise<void> {
	const present = await readdir(HOST_CONFIGURATION);
	const files = CONFIGURATION_FILES.filter((file) => present.includes(file));
	const hash = createHash('sha256');
	for (const file of files) hash.update(await readFile(path.join(HOST_CONFIGURATION, file)));
	const wanted = `${hash.digest('hex')}\n`;
	if ((await readFile(MARKER, 'utf8').catch(() => '')) === wanted) return;

	say('Installing n8n for the first time (needed once):');
	await mkdir(HOST_FOLDER, { recursive: true });
	await rm(MARKER, { force: true });
	// npm would trust a folder that an interrupted run has half filled.
	await rm(MODULES, { recursive: true, force: true });
	for (const file of files) {
		await cp(path.join(HOST_CONFIGURATION, file), path.join(HOST_FOLDER, file));
	}
	await step('Packages (2.4 GB, about 4 minutes)', async () => {
		await run('npm', ['install', '--no-audit', '--no-fund'], HOST_FOLDER);
	});
	await step('Node.js for n8n', async () => {
		const folder = path.join(MODULES, 'node');
		await run(process.execPath, ['installArchSpecificPackage.js'], folder);
	});
	await step('SQLite driver (about a minute)', async () => {
		await run('npm', ['rebuild', '--ignore-scripts=false', 'sqlite3'], HOST_FOLDER);
		await run(HOST.node, ['-e', "require('sqlite3')"], HOST_FOLDER);
	});
	await writeFile(MARKER, wanted);
}
