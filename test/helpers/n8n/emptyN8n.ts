import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fastify from 'fastify';
import merge from 'lodash/merge';
import type { INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { packAndUnpack } from '../../tools/package/unpack';
import { type N8n, startN8n } from './n8n';
import { DATA_FOLDER, PACKAGE_NAME } from './paths';
import { capture, CleanUp, LOOPBACK, run } from './processes';

const COMMUNITY_NODES = '/community-packages';
const NODE = path.join('dist', 'nodes', 'DigitalSales', 'DigitalSales.node.js');

const installedSchema = z.object({
	installedVersion: z.string(),
	updateAvailable: z.string().optional(),
});
const publishedSchema = z
	.object({ _attachments: z.record(z.object({ data: z.string() })) })
	.passthrough();

// Without a license, n8n passes the public registry to npm as an argument. Of two such arguments, npm uses the last.
const npmInFront = (npm: string, url: string, cache: string): string => `#!/bin/sh
exec '${npm}' "$@" --registry='${url}' --cache='${cache}' '--//${new URL(url).host}/:_authToken=anybody'
`;

/** A local registry for the package alone, and an `npm` that uses no other. */
export class Registry {
	private constructor(
		private readonly folder: string,
		private readonly log: string,
		readonly close: () => Promise<void>,
	) {}

	/** @param folder for the `npm` */
	static async open(folder: string, log: string): Promise<Registry> {
		const server = fastify({ bodyLimit: 50_000_000, forceCloseConnections: true });
		// npm reads about a version exactly what it sent when it published the version.
		let published: z.infer<typeof publishedSchema> = { _attachments: {} };
		server.put(`/${PACKAGE_NAME}`, ({ body }) => {
			published = merge(published, publishedSchema.parse(body));
			return {};
		});
		server.get(`/${PACKAGE_NAME}`, () => published);
		server.get<{ Params: { file: string } }>(`/${PACKAGE_NAME}/-/:file`, ({ params: { file } }) =>
			Buffer.from(published._attachments[file]?.data ?? '', 'base64'),
		);
		const url = await server.listen({ port: 0, host: LOOPBACK });
		const program = path.join(folder, 'bin', 'npm');
		await mkdir(path.dirname(program));
		const npm = await capture('sh', ['-c', 'command -v npm'], folder);
		await writeFile(program, npmInFront(npm, url, path.join(folder, 'cache')));
		await chmod(program, 0o755);
		return new Registry(folder, log, async () => await server.close());
	}

	/** The PATH with which a program finds this `npm`. */
	get path(): string {
		return `${path.join(this.folder, 'bin')}:${process.env.PATH ?? ''}`;
	}

	async npm(args: string[], cwd = this.folder): Promise<void> {
		await run(path.join(this.folder, 'bin', 'npm'), args, { cwd, log: this.log });
	}
}

/** An n8n without the package, and a registry that has it. */
export class EmptyN8n {
	private constructor(
		readonly registry: Registry,
		readonly n8n: N8n,
		readonly close: () => Promise<void>,
	) {}

	/** @param name of the logs */
	static async open(name: string): Promise<EmptyN8n> {
		return await CleanUp.begin(async (cleanUp) => {
			const folder = await cleanUp.folder(`${name}-registry`);
			const registry = await Registry.open(folder, path.join(DATA_FOLDER, `${name}-npm.log`));
			cleanUp.add(registry.close);
			const env = {
				PATH: registry.path,
				// n8n first asks the public registry and its own service. Nothing listens on this port, so both fail at once.
				HTTPS_PROXY: `http://${LOOPBACK}:9`,
				NO_PROXY: LOOPBACK,
			};
			const n8n = await startN8n(name, { has: 'nothing', env });
			cleanUp.add(n8n.close);
			return new EmptyN8n(registry, n8n, cleanUp.run);
		});
	}

	/** Publishes the current package as several versions. The description of the node names the version. */
	async publish(...versions: string[]): Promise<void> {
		const { folder, remove } = await packAndUnpack();
		const node = path.join(folder, NODE);
		const code = await readFile(node, 'utf8');
		for (const version of versions) {
			await writeFile(node, code.replace(/(description: )'[^']*'/, `$1'Of ${version}'`));
			await this.registry.npm(['pkg', 'set', `version=${version}`], folder);
			await this.registry.npm(['publish', '--ignore-scripts'], folder);
		}
		await remove();
	}

	/**
	 * Installs a version as Settings > Community nodes does. Without a version, older n8n would ask the public registry
	 * for the latest.
	 */
	async install(version: string, method: 'POST' | 'PATCH' = 'POST'): Promise<void> {
		const body = { name: PACKAGE_NAME, version };
		const installed = await this.n8n.rest.call(installedSchema, method, COMMUNITY_NODES, body);
		expect(installed.installedVersion).toBe(version);
	}

	/** Updates to the version that n8n offers. */
	async update(): Promise<void> {
		const schema = z.array(installedSchema);
		const [installed] = await this.n8n.rest.call(schema, 'GET', COMMUNITY_NODES);
		await this.install(installed?.updateAvailable ?? '', 'PATCH');
	}

	async uninstall(): Promise<void> {
		await this.n8n.rest.call(z.unknown(), 'DELETE', `${COMMUNITY_NODES}?name=${PACKAGE_NAME}`);
	}

	async nodeTypes(): Promise<INodeTypeDescription[]> {
		const types = await this.n8n.rest.nodeTypes();
		return types.filter(({ name }) => name.startsWith(`${PACKAGE_NAME}.`));
	}
}
