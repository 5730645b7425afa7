import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { until } from '../../support/until';
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

/** The oldest supported host has no lockfile: a megabyte is much for a look at whether it works. */
const CONFIGURATION_FILES = ['package.json', 'package-lock.json', '.npmrc'];

/** Something that is installed beside the project, in a folder of its own. */
export interface Pinned {
	/** What it is, as shown to a person. */
	name: string;
	/** How much it is, as shown to a person. */
	size: string;
	/** The folder with its package.json. */
	configuration: string;
	/** Where it goes. */
	folder: string;
	/** What is left to do after npm, if anything. */
	complete?(log: string): Promise<void>;
}

/**
 * Installs what a configuration pins, once. What is there already and complete is used as it is; an
 * interrupted or outdated install is done again. Two processes take turns.
 */
export async function installPinned(pinned: Pinned): Promise<void> {
	const { name, size, configuration, folder, complete } = pinned;
	const present = await readdir(configuration);
	const files = CONFIGURATION_FILES.filter((file) => present.includes(file));
	const wanted = createHash('sha256');
	for (const file of files) wanted.update(await readFile(path.join(configuration, file)));
	const mark = `${wanted.digest('hex')}\n`;
	// Nothing but a finished install may leave it behind.
	const marker = path.join(folder, 'installed');
	const isDone = async () => (await readFile(marker, 'utf8').catch(() => '')) === mark;
	const log = path.join(folder, 'install.log');
	const install = async (): Promise<void> => {
		if (await isDone()) return;
		say(`Installing ${name} for the first time (needed once):`);
		await rm(marker, { force: true });
		// npm trusts a folder that an interrupted run has left half filled.
		await step('Removing an incomplete installation', async () => {
			await rm(path.join(folder, 'node_modules'), { recursive: true, force: true });
		});
		for (const file of files) await cp(path.join(configuration, file), path.join(folder, file));
		await step(`Packages (${size})`, async () => {
			await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, log });
		});
		await complete?.(log);
		await writeFile(marker, mark);
	};
	if (await isDone()) return;
	await mkdir(folder, { recursive: true });
	const tell = () => say(`Waiting for another process that is installing ${name} ...`);
	await withLock(folder, install, tell);
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

/** Installs the pinned n8n, with a Node.js of its own, once. */
export async function installHost(): Promise<Host> {
	await installPinned({
		name: 'n8n',
		size: '2.4 GB, about 4 minutes',
		configuration: HOST_CONFIGURATION,
		folder: HOST_FOLDER,
		complete: async (log) => {
			await step('Node.js for n8n', async () => {
				const cwd = path.join(MODULES, 'node');
				await run(process.execPath, ['installArchSpecificPackage.js'], { cwd, log });
			});
			await step('SQLite driver (about a minute)', async () => {
				const rebuild = ['rebuild', '--ignore-scripts=false', 'sqlite3'];
				await run('npm', rebuild, { cwd: HOST_FOLDER, log });
				await capture(HOST.node, ['-e', "require('sqlite3')"], HOST_FOLDER);
			});
		},
	});
	return HOST;
}
