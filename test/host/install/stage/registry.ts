import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { installHost } from '../../n8n/host';
import { REGISTRY_CONFIGURATION, REGISTRY_FOLDER } from '../../n8n/paths';
import { installPinned } from '../../n8n/pinned';
import { freePort, LOOPBACK } from '../../n8n/ports';
import { capture, endGroup, hasEnded, run, startGroup } from '../../n8n/processes';

const PROGRAM = path.join(REGISTRY_FOLDER, 'node_modules', 'verdaccio', 'bin', 'verdaccio');
const READY_WITHIN_MS = 60_000;

/** A registry that anybody may publish to, and that asks no other for what it does not have. */
const configuration = (storage: string): string => `
storage: ${storage}
uplinks: {}
packages:
  '**': { access: $all, publish: $all }
web: { enable: false }
log: { type: stdout, format: pretty, level: http }
`;

// Without a license n8n accepts no registry but the public one, and names it to npm as an argument.
// Of two such arguments npm takes the last.
const npmInFront = (npm: string, url: string, cache: string): string => `#!/bin/sh
exec '${npm}' "$@" --registry='${url}' --cache='${cache}' '--//${new URL(url).host}/:_authToken=anybody'
`;

async function isReady(url: string): Promise<boolean> {
	return await fetch(`${url}/-/ping`).then(
		({ ok }) => ok,
		() => false,
	);
}

/** A package registry on the loopback address, empty at first, and an `npm` that knows no other. */
export class Registry {
	private constructor(
		private readonly folder: string,
		private readonly log: string,
		readonly close: () => Promise<void>,
	) {}

	/** Opens one that keeps everything in `folder`. */
	static async open(folder: string, log: string): Promise<Registry> {
		await installPinned({
			name: 'the package registry',
			size: '65 MB',
			configuration: REGISTRY_CONFIGURATION,
			folder: REGISTRY_FOLDER,
			verify: async () => {
				const { node } = await installHost();
				await capture(node, [PROGRAM, '--version'], REGISTRY_FOLDER);
			},
		});
		const { node } = await installHost();
		const url = `http://${LOOPBACK}:${await freePort()}`;
		const config = path.join(folder, 'registry.yaml');
		const program = path.join(folder, 'bin', 'npm');
		await mkdir(path.dirname(program), { recursive: true });
		await writeFile(config, configuration(path.join(folder, 'storage')));
		const npm = await capture('sh', ['-c', 'command -v npm'], folder);
		await writeFile(program, npmInFront(npm, url, path.join(folder, 'cache')));
		await chmod(program, 0o755);
		const child = startGroup(node, [PROGRAM, '--config', config, '--listen', url], {
			cwd: folder,
			stdio: 'ignore',
		});
		const close = async (): Promise<void> => await endGroup(child);
		const deadline = Date.now() + READY_WITHIN_MS;
		while (!(await isReady(url))) {
			if (hasEnded(child) || Date.now() > deadline) {
				await close();
				throw new Error(`The package registry did not start at ${url}.`);
			}
			await pause(100);
		}
		return new Registry(folder, log, close);
	}

	/** Where a program finds an `npm` that knows this registry alone. */
	get path(): string {
		return `${path.join(this.folder, 'bin')}:${process.env.PATH ?? ''}`;
	}

	/** What an n8n is started with in order to find this registry, and nothing on the internet. */
	get env(): Record<string, string> {
		return {
			PATH: this.path,
			// n8n looks the package up at the public registry and at its own service first; nothing
			// listens on this port, so both are out of reach at once.
			HTTPS_PROXY: `http://${LOOPBACK}:9`,
			NO_PROXY: LOOPBACK,
		};
	}

	/** Publishes a tarball; the version published last is the one that the registry calls latest. */
	async publish(tarball: string): Promise<void> {
		const npm = path.join(this.folder, 'bin', 'npm');
		await run(npm, ['publish', tarball], { cwd: this.folder, log: this.log });
	}

	/** Gets the tarball of a published version, and returns its path. */
	async download(name: string, version: string): Promise<string> {
		const npm = path.join(this.folder, 'bin', 'npm');
		const args = ['pack', `${name}@${version}`, '--pack-destination', this.folder, '--silent'];
		return path.join(this.folder, await capture(npm, args, this.folder));
	}
}
