import path from 'node:path';
import type { INodeTypeDescription } from 'n8n-workflow';
import { CleanUp } from '../../n8n/cleanUp';
import { startN8n, type N8n } from '../../n8n/n8n';
import { packBuild } from '../../n8n/packageInstall';
import { DATA_FOLDER, PACKAGE_NAME } from '../../n8n/paths';
import { CommunityPackages } from './communityPackages';
import { packOlderVersion } from './olderVersion';
import { Registry } from './registry';

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
