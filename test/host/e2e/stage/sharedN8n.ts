import { rm } from 'node:fs/promises';
import path from 'node:path';
import { installHost } from '../../n8n/host';
import { startN8n, type N8nInstance } from '../../n8n/instance';
import { installPackage, packBuild } from '../../n8n/packageInstall';
import { DATA_FOLDER } from '../../n8n/paths';
import { N8nRest } from '../../n8n/rest';
import { DEMO_LOGIN } from '../../n8n/setUp';

const RECORDER_FOLDER = path.join(__dirname, 'recorder');

/** How the files of the suite find it. */
export const SHARED_N8N = 'SHARED_N8N';

let n8n: N8nInstance | undefined;
let removeBuild: (() => Promise<void>) | undefined;

/** Builds the package and starts the n8n that most files of the suite share. */
export default async function openSharedN8n(): Promise<void> {
	await installHost();
	const userFolder = path.join(DATA_FOLDER, 'e2e-shared');
	await rm(userFolder, { recursive: true, force: true });
	const { tarball, remove } = await packBuild();
	removeBuild = remove;
	process.env.PACKED_BUILD = tarball;
	await installPackage(tarball, userFolder);
	n8n = await startN8n({
		userFolder,
		log: path.join(DATA_FOLDER, 'e2e-shared.log'),
		env: { N8N_CUSTOM_EXTENSIONS: RECORDER_FOLDER, GENERIC_TIMEZONE: 'America/Sao_Paulo' },
	});
	await new N8nRest(n8n.url).signIn(DEMO_LOGIN);
	process.env[SHARED_N8N] = n8n.url;
}

/** Ends it. */
export async function closeSharedN8n(): Promise<void> {
	await n8n?.stop();
	await removeBuild?.();
}
