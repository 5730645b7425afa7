import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { until } from '../until';
import { HOST_CONFIGURATION, HOST_FOLDER } from './paths';
import { capture, listen, run } from './processes';
import { say, step } from './terminal';

/** No installation takes longer. */
const TURN_WITHIN_MS = 30 * 60_000;

/**
 * Runs `work` while no other process does so for the same `folder`, and waits for its turn. The lock
 * is a port, which the system frees however a process ends.
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

/** An installed n8n: the Node.js that it runs on, and the script that starts it. */
export interface Host {
	node: string;
	n8n: string;
}

const MODULES = path.join(HOST_FOLDER, 'node_modules');
const HOST: Host = {
	node: path.join(MODULES, 'node', 'bin', 'node'),
	n8n: path.join(MODULES, 'n8n', 'bin', 'n8n'),
};

/** Loads a package that n8n brings along. */
export const requireOfHost = createRequire(path.join(HOST_FOLDER, 'package.json'));

/** The oldest supported n8n has no lockfile: a megabyte is much for a look at whether it works. */
const CONFIGURATION_FILES = ['package.json', 'package-lock.json', '.npmrc'];
/** Nothing but a finished install leaves it behind. */
const MARKER = path.join(HOST_FOLDER, 'installed');

/**
 * Installs the pinned n8n, with a Node.js of its own, once. What is there already and complete is used
 * as it is; an interrupted or outdated install is done again. Two processes take turns.
 */
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
	// npm trusts a folder that an interrupted run has left half filled.
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
