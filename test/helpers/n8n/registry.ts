import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fastify from 'fastify';
import merge from 'lodash/merge';
import type { INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { packAndUnpack } from '../../tools/package/unpack';
import { PACKAGE_NAME } from './paths';
import { LOOPBACK, run } from './processes';
import type { N8nRest } from './rest';

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
		readonly close: () => Promise<void>,
	) {}

	/** @param folder for the `npm` */
	static async open(folder: string): Promise<Registry> {
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
		const npm = await run('sh', ['-c', 'command -v npm'], folder);
		await writeFile(program, npmInFront(npm, url, path.join(folder, 'cache')));
		await chmod(program, 0o755);
		return new Registry(folder, async () => await server.close());
	}

	/** The PATH with which a program finds this `npm`. */
	get path(): string {
		return `${path.join(this.folder, 'bin')}:${process.env.PATH ?? ''}`;
	}

	async npm(args: string[], cwd = this.folder): Promise<void> {
		await run(path.join(this.folder, 'bin', 'npm'), args, cwd);
	}

	/** Publishes the current package as several versions. The description of the node names the version. */
	async publish(...versions: string[]): Promise<void> {
		const { folder, remove } = await packAndUnpack();
		const node = path.join(folder, NODE);
		const code = await readFile(node, 'utf8');
		for (const version of versions) {
			await writeFile(node, code.replace(/(description: )'[^']*'/, `$1'Of ${version}'`));
			await this.npm(['pkg', 'set', `version=${version}`], folder);
			await this.npm(['publish', '--ignore-scripts'], folder);
		}
		await remove();
	}
}

/** What a person does under Settings > Community nodes. */
export class CommunityNodes {
	constructor(private readonly rest: N8nRest) {}

	/** Without a version, older n8n would ask the public registry for the latest. */
	async install(version: string, method: 'POST' | 'PATCH' = 'POST'): Promise<void> {
		const body = { name: PACKAGE_NAME, version };
		const installed = await this.rest.call(installedSchema, method, COMMUNITY_NODES, body);
		expect(installed.installedVersion).toBe(version);
	}

	/** Updates to the version that n8n offers. */
	async update(): Promise<void> {
		const schema = z.array(installedSchema);
		const [installed] = await this.rest.call(schema, 'GET', COMMUNITY_NODES);
		await this.install(installed?.updateAvailable ?? '', 'PATCH');
	}

	async uninstall(): Promise<void> {
		await this.rest.call(z.unknown(), 'DELETE', `${COMMUNITY_NODES}?name=${PACKAGE_NAME}`);
	}

	async nodeTypes(): Promise<INodeTypeDescription[]> {
		const types = await this.rest.nodeTypes();
		return types.filter(({ name }) => name.startsWith(`${PACKAGE_NAME}.`));
	}
}
