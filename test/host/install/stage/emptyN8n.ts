import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { INodeTypeDescription } from 'n8n-workflow';
import { startSandbox, type Sandbox } from '../../../sandbox';
import { installHost } from '../../n8n/host';
import { startN8n, type N8nInstance } from '../../n8n/instance';
import { packBuild } from '../../n8n/packageInstall';
import { CREDENTIAL_TYPE, DATA_FOLDER, PACKAGE_NAME } from '../../n8n/paths';
import { freePort } from '../../n8n/ports';
import { N8nRest, type SavedCredential } from '../../n8n/rest';
import { DEMO_LOGIN } from '../../n8n/setUp';
import { CommunityPackages } from './communityPackages';
import { Registry } from './registry';

/** A real n8n without the package, the registry from which it can get it, and a sandbox. */
export class EmptyN8n {
	private constructor(
		private readonly folder: string,
		private readonly log: string,
		private readonly port: number,
		readonly registry: Registry,
		readonly sandbox: Sandbox,
		private n8n: N8nInstance,
		private session: N8nRest,
	) {}

	/** Starts all three in a folder of their own; `name` names the logs. */
	static async open(name: string): Promise<EmptyN8n> {
		await installHost();
		const folder = await mkdtemp(path.join(tmpdir(), `digital-sales-${name}-`));
		const log = path.join(DATA_FOLDER, `${name}.log`);
		const registry = await Registry.open(folder, path.join(DATA_FOLDER, `${name}-npm.log`));
		const sandbox = await startSandbox();
		const port = await freePort();
		const n8n = await startN8n({ userFolder: folder, port, log, env: registry.env });
		const rest = new N8nRest(n8n.url);
		await rest.signIn(DEMO_LOGIN);
		return new EmptyN8n(folder, log, port, registry, sandbox, n8n, rest);
	}

	/** The address of the running n8n. */
	get url(): string {
		return this.n8n.url;
	}

	get rest(): N8nRest {
		return this.session;
	}

	get packages(): CommunityPackages {
		return new CommunityPackages(this.session);
	}

	/** Publishes the package as it is now. */
	async publishPresent(): Promise<void> {
		const { tarball, remove } = await packBuild();
		await this.registry.publish(tarball).finally(remove);
	}

	/** The package's nodes as this n8n knows them at this moment. */
	async nodeTypes(): Promise<INodeTypeDescription[]> {
		const types = await this.rest.nodeTypes();
		return types.filter(({ name }) => name.startsWith(`${PACKAGE_NAME}.`));
	}

	/** Saves a credential that leads to the sandbox. */
	async createCredential(): Promise<SavedCredential> {
		const { baseUrl, apiToken, bodyApiToken } = this.sandbox;
		const data = { baseUrl, apiToken, bodyApiToken };
		return await this.rest.createCredential('Sandbox', CREDENTIAL_TYPE, data);
	}

	/** Stops n8n and starts it again with the same data, at the same address. */
	async restart(): Promise<void> {
		await this.n8n.stop();
		const { folder: userFolder, port, registry } = this;
		const log = this.log.replace(/\.log$/, '-restarted.log');
		this.n8n = await startN8n({ userFolder, port, log, env: registry.env });
		this.session = new N8nRest(this.n8n.url);
		await this.session.signIn(DEMO_LOGIN);
	}

	async close(): Promise<void> {
		await this.n8n.stop();
		await this.registry.close();
		await this.sandbox.close();
		await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
	}
}
