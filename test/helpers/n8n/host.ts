import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { until } from '../until';
import { HOST_CONFIGURATION, HOST_FOLDER } from './paths';
import { capture, listen, run } from './processes';
import { say, step } from './terminal';

const TURN_WITHIN_MS = 30 * 60_000;

/**
 * Lets one process at a time work on a folder. The lock is a port, because the system frees a port however its
 * process ends.
 */
export async function withLock<T>(
	folder: string,
	work: () => Promise<T>,
	onWait: () => void = () => {},
): Promise<T> {
	const port = 20_000 + (createHash('sha256').update(folder).digest().readUInt16BE() % 10_000);
	const take = async () => await listen(port).catch(() => undefined);
	let lock = await take();
	if (!lock) {
		onWait();
		lock = await until(`port ${port} is free`, take, { withinMs: TURN_WITHIN_MS, everyMs: 500 });
	}
	return await work().finally(() => lock.close());
}

/** The Node.js that n8n runs on, and the script that starts n8n. */
export interface Host {
	node: string;
	n8n: string;
}

const MODULES = path.join(HOST_FOLDER, 'node_modules');
const HOST: Host = {
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
export async function installHost(): Promise<Host> {
	const present = await readdir(HOST_CONFIGURATION);
	const files = CONFIGURATION_FILES.filter((file) => present.includes(file));
	const wanted = createHash('sha256');
	for (const file of files) wanted.update(await readFile(path.join(HOST_CONFIGURATION, file)));
	const mark = `${wanted.digest('hex')}\n`;
	const isDone = async () => (await readFile(MARKER, 'utf8').catch(() => '')) === mark;
	if (await isDone()) return HOST;
	await mkdir(HOST_FOLDER, { recursive: true });
	const tell = () => say('Waiting for another process that is installing n8n ...');
	const install = async () => {
		if (!(await isDone())) await installAnew(files, mark);
	};
	await withLock(HOST_FOLDER, install, tell);
	return HOST;
}

async function installAnew(files: string[], mark: string): Promise<void> {
	const cwd = HOST_FOLDER;
	const log = path.join(HOST_FOLDER, 'install.log');
	say('Installing n8n for the first time (needed once):');
	await rm(MARKER, { force: true });
	// npm would trust a folder that an interrupted run has half filled.
	await step('Removing an incomplete installation', async () => {
		await rm(MODULES, { recursive: true, force: true });
	});
	for (const file of files) {
		await cp(path.join(HOST_CONFIGURATION, file), path.join(HOST_FOLDER, file));
	}
	await step('Packages (2.4 GB, about 4 minutes)', async () => {
		await run('npm', ['install', '--no-audit', '--no-fund'], { cwd, log });
	});
	await step('Node.js for n8n', async () => {
		const ofNode = { cwd: path.join(MODULES, 'node'), log };
		await run(process.execPath, ['installArchSpecificPackage.js'], ofNode);
	});
	await step('SQLite driver (about a minute)', async () => {
		await run('npm', ['rebuild', '--ignore-scripts=false', 'sqlite3'], { cwd, log });
		await capture(HOST.node, ['-e', "require('sqlite3')"], cwd);
	});
	await writeFile(MARKER, mark);
}
