import path from 'node:path';
import type { INodeTypeDescription } from 'n8n-workflow';
import { startSandbox, type Sandbox } from '../../../sandbox';
import { CleanUp } from '../../n8n/cleanUp';
import { installHost } from '../../n8n/host';
import { startN8n, type N8nInstance } from '../../n8n/instance';
import { packBuild } from '../../n8n/packageInstall';
import { CREDENTIAL_TYPE, DATA_FOLDER, PACKAGE_NAME } from '../../n8n/paths';
import { freePort } from '../../n8n/ports';
import { N8nRest, type SavedCredential } from '../../n8n/rest';
import { DEMO_LOGIN } from '../../n8n/setUp';
import { CommunityPackages } from './communityPackages';
import { packOlderVersion } from './olderVersion';
import { Registry } from './registry';

/** A running n8n, and somebody signed in to it. */
interface Session {
	n8n: N8nInstance;
	rest: N8nRest;
}

/** A real n8n without the package, the registry from which it can get it, and a sandbox. */
export class EmptyN8n {
	private constructor(
		readonly registry: Registry,
		readonly sandbox: Sandbox,
		private readonly start: (logSuffix: string) => Promise<Session>,
		private session: Session,
		private readonly folder: string,
		readonly close: () => Promise<void>,
	) {}

	/** Starts all three in a folder of their own; `name` names the logs. */
	static async open(name: string): Promise<EmptyN8n> {
		await installHost();
		const cleanUp = new CleanUp();
		try {
			const folder = await cleanUp.folder(name);
			const registry = await Registry.open(folder, path.join(DATA_FOLDER, `${name}-npm.log`));
			cleanUp.add(registry.close);
			const sandbox = await startSandbox();
			cleanUp.add(async () => await sandbox.close());
			const port = await freePort();
			const start = async (logSuffix: string): Promise<Session> => {
				const log = path.join(DATA_FOLDER, `${name}${logSuffix}.log`);
				const n8n = await startN8n({ userFolder: folder, port, log, env: registry.env });
				cleanUp.add(n8n.stop);
				const rest = new N8nRest(n8n.url);
				await rest.signIn(DEMO_LOGIN);
				return { n8n, rest };
			};
			return new EmptyN8n(registry, sandbox, start, await start(''), folder, cleanUp.run);
		} catch (error) {
			await cleanUp.run();
			throw error;
		}
	}

	/** The address of the running n8n. */
	get url(): string {
		return this.session.n8n.url;
	}

	get rest(): N8nRest {
		return this.session.rest;
	}

	get packages(): CommunityPackages {
		return new CommunityPackages(this.rest);
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
		await this.session.n8n.stop();
		this.session = await this.start('-restarted');
	}
}
