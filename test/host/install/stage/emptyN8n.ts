import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { until } from '../../../support/until';
import { packAndUnpack } from '../../../tools/package/unpack';
import { installHost, installPinned } from '../../n8n/host';
import { type N8n, startN8n } from '../../n8n/n8n';
import { packBuild } from '../../n8n/packageInstall';
import {
	DATA_FOLDER,
	PACKAGE_NAME,
	REGISTRY_CONFIGURATION,
	REGISTRY_FOLDER,
} from '../../n8n/paths';
import {
	capture,
	CleanUp,
	endGroup,
	freePort,
	hasEnded,
	LOOPBACK,
	run,
	startGroup,
} from '../../n8n/processes';
import type { N8nRest } from '../../n8n/rest';

const ADDRESS = '/community-packages';

const installedSchema = z.object({
	packageName: z.string(),
	installedVersion: z.string(),
	updateAvailable: z.string().optional(),
});

type InstalledPackage = z.infer<typeof installedSchema>;

/**
 * Settings > Community nodes, as the editor asks for it. The version is always named: older n8n look
 * the latest one up at the public registry alone.
 */
export class CommunityPackages {
	constructor(private readonly rest: N8nRest) {}

	/** What is installed, and which of it could be updated. */
	async list(): Promise<InstalledPackage[]> {
		return await this.rest.call(z.array(installedSchema), 'GET', ADDRESS);
	}

	/** Installs a version of a package. */
	async install(version: string): Promise<InstalledPackage> {
		return await this.change('POST', version);
	}

	/** Updates the package to a version. */
	async update(version: string): Promise<InstalledPackage> {
		return await this.change('PATCH', version);
	}

	/** Removes the package. */
	async uninstall(): Promise<void> {
		await this.rest.call(z.unknown(), 'DELETE', `${ADDRESS}?name=${PACKAGE_NAME}`);
	}

	private async change(method: string, version: string): Promise<InstalledPackage> {
		return await this.rest.call(installedSchema, method, ADDRESS, { name: PACKAGE_NAME, version });
	}
}

export const OLDER_VERSION = '0.0.9';
/** What the older version says of its node, and the present one does not. */
export const OLDER_TEXT = 'Of an older version';

const NODE = path.join('dist', 'nodes', 'DigitalSales', 'DigitalSales.node.js');

/**
 * Packs the present package into `folder` under an older number, and returns the tarball. Its code is
 * of today but for one text, by which it shows which of the two is loaded.
 */
async function packOlderVersion(folder: string): Promise<string> {
	const { folder: contents, remove } = await packAndUnpack();
	try {
		const node = path.join(contents, NODE);
		const code = await readFile(node, 'utf8');
		await writeFile(node, code.replace(/(description: )'[^']*'/, `$1'${OLDER_TEXT}'`));
		const log = path.join(DATA_FOLDER, 'older-version.log');
		await run('npm', ['pkg', 'set', `version=${OLDER_VERSION}`], { cwd: contents, log });
		const pack = ['pack', '--ignore-scripts', '--pack-destination', folder];
		await run('npm', pack, { cwd: contents, log });
	} finally {
		await remove();
	}
	const packed = (await readdir(folder)).find((name) => name.endsWith(`-${OLDER_VERSION}.tgz`));
	return path.join(folder, packed ?? '');
}

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
		const isUp = async (): Promise<boolean> => {
			if (hasEnded(child)) throw new Error(`The package registry did not start at ${url}.`);
			return await isReady(url);
		};
		await until('the package registry starts', isUp, { withinMs: READY_WITHIN_MS }).catch(
			async (error: unknown) => {
				await close();
				throw error;
			},
		);
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

/** An n8n without the package, and the registry from which it can get it. */
export class EmptyN8n {
	private constructor(
		readonly registry: Registry,
		readonly n8n: N8n,
		private readonly folder: string,
		readonly close: () => Promise<void>,
	) {}

	/** Starts both; `name` names the logs. */
	static async open(name: string): Promise<EmptyN8n> {
		const cleanUp = new CleanUp();
		try {
			const folder = await cleanUp.folder(`${name}-registry`);
			const registry = await Registry.open(folder, path.join(DATA_FOLDER, `${name}-npm.log`));
			cleanUp.add(registry.close);
			const n8n = await startN8n(name, { has: 'nothing', env: registry.env });
			cleanUp.add(n8n.close);
			return new EmptyN8n(registry, n8n, folder, cleanUp.run);
		} catch (error) {
			await cleanUp.run();
			throw error;
		}
	}

	get packages(): CommunityPackages {
		return new CommunityPackages(this.n8n.rest);
	}

	/** Publishes an older version of the package. */
	async publishOlder(): Promise<void> {
		await this.registry.publish(await packOlderVersion(this.folder));
	}

	/** Publishes the package as it is now. */
	async publishPresent(): Promise<void> {
		const { tarball, remove } = await packBuild();
		await this.registry.publish(tarball).finally(remove);
	}

	/** The package's nodes as this n8n knows them at this moment. */
	async nodeTypes(): Promise<INodeTypeDescription[]> {
		const types = await this.n8n.rest.nodeTypes();
		return types.filter(({ name }) => name.startsWith(`${PACKAGE_NAME}.`));
	}
}
