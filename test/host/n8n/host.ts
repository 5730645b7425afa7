import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { withLock } from './lock';
import { HOST_CONFIGURATION, HOST_FOLDER, HOSTS_FOLDER } from './paths';
import { capture, run } from './processes';
import { say, step } from './terminal';

/** The older hosts have no lockfile: a megabyte each is much for a look at whether they work. */
const CONFIGURATION_FILES = ['package.json', 'package-lock.json', '.npmrc'];
const MARKER = 'installed';

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

async function configurationFiles(): Promise<string[]> {
	const present = await readdir(HOST_CONFIGURATION);
	return CONFIGURATION_FILES.filter((name) => present.includes(name));
}

async function fingerprint(folder: string): Promise<string> {
	const hash = createHash('sha256');
	for (const name of await configurationFiles()) {
		hash.update(await readFile(path.join(folder, name)));
	}
	return hash.digest('hex');
}

/** The versions that the configuration of a host names; '' is the pinned host. */
export async function readHostVersions(host: string): Promise<{ n8n: string; node: string }> {
	const text = await readFile(path.join(HOSTS_FOLDER, host, 'package.json'), 'utf8');
	return configurationSchema.parse(JSON.parse(text)).dependencies;
}

/** The versions of the host that is in use. */
export async function hostVersions(): Promise<{ n8n: string; node: string }> {
	return await readHostVersions(path.relative(HOSTS_FOLDER, HOST_CONFIGURATION));
}

async function isMarked(folder: string, wanted: string): Promise<boolean> {
	const marker = await readFile(path.join(folder, MARKER), 'utf8').catch(() => '');
	return marker.trim() === wanted;
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

async function adoptComplete(folder: string, wanted: string): Promise<boolean> {
	try {
		if ((await fingerprint(folder)) !== wanted) return false;
		await verify(folder);
		return true;
	} catch {
		return false;
	}
}

async function install(folder: string): Promise<void> {
	const log = path.join(folder, 'install.log');
	// Nothing but a finished install may leave a marker behind, and npm trusts a folder that an
	// interrupted run has left half filled.
	await rm(path.join(folder, MARKER), { force: true });
	await step('Removing an incomplete installation', async () => {
		await rm(path.join(folder, 'node_modules'), { recursive: true, force: true });
	});
	for (const name of await configurationFiles()) {
		await cp(path.join(HOST_CONFIGURATION, name), path.join(folder, name));
	}
	await step('Packages (2.4 GB, about 4 minutes)', async () => {
		await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, log });
	});
	await step('Node.js for n8n', async () => {
		await run(process.execPath, ['installArchSpecificPackage.js'], {
			cwd: path.join(folder, 'node_modules', 'node'),
			log,
		});
	});
	await step('SQLite driver (about a minute)', async () => {
		await run('npm', ['rebuild', '--ignore-scripts=false', 'sqlite3'], { cwd: folder, log });
	});
	await verify(folder);
}

/**
 * Installs the pinned n8n, with a Node.js of its own, once. What is there already and complete is
 * used as it is; an interrupted or outdated install is done again. Two processes take turns.
 */
export async function installHost(folder = HOST_FOLDER): Promise<Host> {
	const wanted = await fingerprint(HOST_CONFIGURATION);
	if (await isMarked(folder, wanted)) return hostIn(folder);
	await mkdir(folder, { recursive: true });
	await withLock(
		path.join(folder, 'install.lock'),
		async () => {
			if (await isMarked(folder, wanted)) return;
			if (!(await adoptComplete(folder, wanted))) {
				say('Installing n8n for the first time (needed once):');
				await install(folder);
			}
			await writeFile(path.join(folder, MARKER), `${wanted}\n`);
		},
		() => say('Waiting for another process that is installing n8n ...'),
	);
	return hostIn(folder);
}
