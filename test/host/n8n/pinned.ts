import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withLock } from './lock';
import { run } from './processes';
import { say, step } from './terminal';

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
