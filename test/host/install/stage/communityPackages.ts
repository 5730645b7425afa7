import { z } from 'zod';
import { PACKAGE_NAME } from '../../n8n/paths';
import type { N8nRest } from '../../n8n/rest';

const ADDRESS = '/community-packages';

const installedSchema = z.object({
	packageName: z.string(),
	installedVersion: z.string(),
	updateAvailable: z.string().optional(),
	failedLoading: z.boolean().optional(),
	installedNodes: z.array(z.object({ type: z.string() })),
});

export type InstalledPackage = z.infer<typeof installedSchema>;

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
	async install(version: string, name = PACKAGE_NAME): Promise<InstalledPackage> {
		return await this.rest.call(installedSchema, 'POST', ADDRESS, { name, version });
	}

	/** Updates the package to a version. */
	async update(version: string): Promise<InstalledPackage> {
		return await this.rest.call(installedSchema, 'PATCH', ADDRESS, {
			name: PACKAGE_NAME,
			version,
		});
	}

	/** Removes the package. */
	async uninstall(): Promise<void> {
		await this.rest.call(z.unknown(), 'DELETE', `${ADDRESS}?name=${PACKAGE_NAME}`);
	}
}
