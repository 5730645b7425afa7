import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { PackageDirectoryLoader } from 'n8n-core';
import type { INodeParameters } from 'n8n-workflow';
import {
	ACTION_TYPE,
	CREDENTIAL_TYPE,
	NodeProcess,
	runNode,
	type CredentialData,
} from '../../product/engine/harness';

/** What the process that plays n8n is asked to do. */
export interface HostOrder {
	/** The folder that the package is installed in. */
	folder: string;
	credentials: CredentialData;
	parameters: INodeParameters;
}

/** What it found. */
export type HostReport = Awaited<ReturnType<typeof report>>;

/** What the package finds only in n8n. */
const HOST_MODULES = ['n8n-workflow', 'zod', 'lodash'];

interface Themed {
	iconUrl?: string | { light: string; dark: string };
}

function icons({ iconUrl }: Themed): string[] {
	if (iconUrl === undefined) return [];
	return typeof iconUrl === 'string' ? [iconUrl] : [iconUrl.light, iconUrl.dark];
}

async function report({ folder, credentials, parameters }: HostOrder) {
	const loader = new PackageDirectoryLoader(folder);
	await loader.loadAll();
	const name = loader.packageName;
	const types = loader.types;
	const fromPackage = createRequire(path.join(folder, 'package.json'));
	const fromHost = createRequire(__filename);

	const { status, items, error } = await runNode(parameters, {
		credentials,
		process: new NodeProcess({
			nodes: { [ACTION_TYPE]: () => asNodeType(loader.getNode('digitalSales').type) },
			credentials: { [CREDENTIAL_TYPE]: () => loader.getCredential(CREDENTIAL_TYPE).type },
		}),
	});

	return {
		production: process.env.NODE_ENV === 'production',
		nodes: types.nodes.map((node) => ({
			name: `${name}.${node.name}`,
			categories: node.codex?.categories ?? [],
			icons: icons(node),
			packageVersion: 'communityNodePackageVersion' in node && node.communityNodePackageVersion,
		})),
		credentials: types.credentials.map((credential) => ({
			name: credential.name,
			icons: icons(credential),
			nodes: credential.supportedNodes ?? [],
			documentation: credential.documentationUrl,
		})),
		// Icons that are named and not there.
		missing: [...types.nodes, ...types.credentials]
			.flatMap(icons)
			.filter((icon) => !existsSync(path.join(folder, icon.replace(`icons/${name}/`, '')))),
		found: Object.fromEntries(
			HOST_MODULES.map((module) => [
				module,
				{ fromPackage: fromPackage.resolve(module), fromHost: fromHost.resolve(module) },
			]),
		),
		run: {
			status,
			items: items.map(({ json }) => json),
			...(error === undefined ? {} : { error: error.message }),
		},
	};
}

function asNodeType(type: ReturnType<PackageDirectoryLoader['getNode']>['type']) {
	if ('nodeVersions' in type) throw new Error('The package has no versioned node types');
	return type;
}

process.once('message', (order: HostOrder) => {
	void report(order)
		.then((found) => process.send?.(found))
		.catch((error: unknown) => process.send?.({ failed: String(error) }))
		.finally(() => process.disconnect());
});
