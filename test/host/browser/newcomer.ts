import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startN8n, type N8nInstance } from '../n8n/instance';
import { installHost } from '../n8n/host';
import { once } from '../n8n/once';
import { installPackage, packBuild } from '../n8n/packageInstall';
import { DATA_FOLDER } from '../n8n/paths';
import { N8nRest } from '../n8n/rest';
import { DEMO_LOGIN } from '../n8n/setUp';
import { startSandbox, type Sandbox } from '../../sandbox';

/** What a newcomer finds: a service, and an n8n with the package and nothing else in it. */
export interface Newcomer {
	sandbox: Sandbox;
	url: string;
	stop(): Promise<void>;
}

/** Installs the package into a fresh n8n that has an owner but no credential and no workflow. */
export async function startNewcomer(): Promise<Newcomer> {
	await installHost();
	const userFolder = await mkdtemp(path.join(tmpdir(), 'digital-sales-browser-'));
	const { tarball, remove } = await packBuild();
	await installPackage(tarball, userFolder).finally(remove);
	const sandbox = await startSandbox();
	let n8n: N8nInstance | undefined;
	const stop = once(async () => {
		await n8n?.stop();
		await sandbox.close();
		await rm(userFolder, { recursive: true, force: true, maxRetries: 3 });
	});
	try {
		n8n = await startN8n({ userFolder, log: path.join(DATA_FOLDER, 'browser.log') });
		await new N8nRest(n8n.url).signIn(DEMO_LOGIN);
		return { sandbox, url: n8n.url, stop };
	} catch (error) {
		await stop();
		throw error;
	}
}
