import { createHash } from 'node:crypto';
import { cp, mkdir, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { HOST_CONFIGURATION, HOST_FOLDER } from './paths';
import { capture, run } from './processes';
import { say, step } from './terminal';

const HEARTBEAT_MS = 2_000;
const STALE_MS = 30_000;

// Not by instanceof: in a test runner the errors of Node.js are of another Error than ours.
function hasCode(error: unknown, code: string): boolean {
	return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return hasCode(error, 'EPERM');
	}
}

async function take(file: string): Promise<boolean> {
	try {
		const handle = await open(file, 'wx');
		await handle.writeFile(String(process.pid));
		await handle.close();
		return true;
	} catch (error) {
		if (hasCode(error, 'EEXIST')) return false;
		throw error;
	}
}

// The age counts beside the process id, because an id is given out again after a restart of the
// machine; and a file without an id yet is being written this very moment.
async function isAbandoned(file: string): Promise<boolean> {
	try {
		const [owner, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
		if (Date.now() - mtimeMs > STALE_MS) return true;
		return owner !== '' && !isAlive(Number(owner));
	} catch {
		return false;
	}
}

/**
 * Runs `work` while no other process holds the lock `file`, and waits for its turn. A lock whose
 * process is gone is taken over.
 */
export async function withLock<T>(
	file: string,
	work: () => Promise<T>,
	onWait: () => void = () => {},
): Promise<T> {
	await mkdir(path.dirname(file), { recursive: true });
	let waiting = false;
	while (!(await take(file))) {
		if (await isAbandoned(file)) {
			await rm(file, { force: true });
			continue;
		}
		if (!waiting) onWait();
		waiting = true;
		await pause(500);
	}
	const heartbeat = setInterval(() => {
		const now = new Date();
		utimes(file, now, now).catch(() => {});
	}, HEARTBEAT_MS);
	try {
		return await work();
	} finally {
		clearInterval(heartbeat);
		await rm(file, { force: true });
	}
}

/** The oldest supported host has no lockfile: a megabyte is much for a look at whether it works. */
const CONFIGURATION_FILES = ['package.json', 'package-lock.json', '.npmrc'];
const MARKER = 'installed';
const LOG = 'install.log';

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
	/** Throws if what stands in the folder is not whole. */
	verify(folder: string): Promise<void>;
	/** What is left to do after npm, if anything. */
	complete?(folder: string, log: string): Promise<void>;
}

async function configurationFiles({ configuration }: Pinned): Promise<string[]> {
	const present = await readdir(configuration);
	return CONFIGURATION_FILES.filter((name) => present.includes(name));
}

async function fingerprint(pinned: Pinned, folder: string): Promise<string> {
	const hash = createHash('sha256');
	for (const name of await configurationFiles(pinned)) {
		hash.update(await readFile(path.join(folder, name)));
	}
	return hash.digest('hex');
}

async function isMarked(folder: string, wanted: string): Promise<boolean> {
	const marker = await readFile(path.join(folder, MARKER), 'utf8').catch(() => '');
	return marker.trim() === wanted;
}

/** Takes what is there, if it is whole or npm has done its part of it. */
async function adopt(pinned: Pinned, wanted: string): Promise<boolean> {
	const { folder, verify, complete } = pinned;
	try {
		if ((await fingerprint(pinned, folder)) !== wanted) return false;
		await verify(folder).catch(async () => {
			await complete?.(folder, path.join(folder, LOG));
			await verify(folder);
		});
		return true;
	} catch {
		return false;
	}
}

async function install(pinned: Pinned): Promise<void> {
	const { folder } = pinned;
	const log = path.join(folder, LOG);
	// Nothing but a finished install may leave a marker behind, and npm trusts a folder that an
	// interrupted run has left half filled.
	await rm(path.join(folder, MARKER), { force: true });
	await step('Removing an incomplete installation', async () => {
		await rm(path.join(folder, 'node_modules'), { recursive: true, force: true });
	});
	for (const name of await configurationFiles(pinned)) {
		await cp(path.join(pinned.configuration, name), path.join(folder, name));
	}
	await step(`Packages (${pinned.size})`, async () => {
		await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, log });
	});
	await pinned.complete?.(folder, log);
	await pinned.verify(folder);
}

/**
 * Installs what a configuration pins, once. What is there already and complete is used as it is; an
 * interrupted or outdated install is done again. Two processes take turns.
 */
export async function installPinned(pinned: Pinned): Promise<void> {
	const { name, folder } = pinned;
	const wanted = await fingerprint(pinned, pinned.configuration);
	if (await isMarked(folder, wanted)) return;
	await mkdir(folder, { recursive: true });
	await withLock(
		path.join(folder, 'install.lock'),
		async () => {
			if (await isMarked(folder, wanted)) return;
			if (!(await adopt(pinned, wanted))) {
				say(`Installing ${name} for the first time (needed once):`);
				await install(pinned);
			}
			await writeFile(path.join(folder, MARKER), `${wanted}\n`);
		},
		() => say(`Waiting for another process that is installing ${name} ...`),
	);
}

const configurationSchema = z.object({
	dependencies: z.object({ n8n: z.string(), node: z.string() }),
});

/** An installed n8n: the Node.js that it runs on, and the script that starts it. */
export interface Host {
	node: string;
	n8n: string;
}

function hostIn(folder: string): Host {
	return {
		node: path.join(folder, 'node_modules', 'node', 'bin', 'node'),
		n8n: path.join(folder, 'node_modules', 'n8n', 'bin', 'n8n'),
	};
}

/** The versions of the host that is in use. */
async function hostVersions(): Promise<{ n8n: string; node: string }> {
	const text = await readFile(path.join(HOST_CONFIGURATION, 'package.json'), 'utf8');
	return configurationSchema.parse(JSON.parse(text)).dependencies;
}

// npm writes its hidden lockfile when every package is in its place, so an install that was cut
// short has none. The SQLite driver is compiled afterwards and shows only when it is loaded.
async function verify(folder: string): Promise<void> {
	const { node, n8n } = hostIn(folder);
	await readFile(path.join(folder, 'node_modules', '.package-lock.json'));
	const pinned = await hostVersions();
	const versions = [
		{
			of: 'Node.js',
			found: await capture(node, ['--version'], folder),
			wanted: `v${pinned.node}`,
		},
		{ of: 'n8n', found: await capture(node, [n8n, '--version'], folder), wanted: pinned.n8n },
	];
	for (const { of, found, wanted } of versions) {
		if (found !== wanted)
			throw new Error(`The n8n host has ${of} ${found} where ${wanted} is pinned.`);
	}
	await capture(node, ['-e', "require('sqlite3')"], folder);
}

async function complete(folder: string, log: string): Promise<void> {
	await step('Node.js for n8n', async () => {
		await run(process.execPath, ['installArchSpecificPackage.js'], {
			cwd: path.join(folder, 'node_modules', 'node'),
			log,
		});
	});
	await step('SQLite driver (about a minute)', async () => {
		await run('npm', ['rebuild', '--ignore-scripts=false', 'sqlite3'], { cwd: folder, log });
	});
}

/** Installs the pinned n8n, with a Node.js of its own, once. */
export async function installHost(folder = HOST_FOLDER): Promise<Host> {
	await installPinned({
		name: 'n8n',
		size: '2.4 GB, about 4 minutes',
		configuration: HOST_CONFIGURATION,
		folder,
		verify,
		complete,
	});
	return hostIn(folder);
}
