import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { HOST_CONFIGURATION, HOST_FOLDER } from './paths';
import { installPinned } from './pinned';
import { capture, run } from './processes';
import { step } from './terminal';

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
