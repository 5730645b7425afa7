import path from 'node:path';
import { startN8n, type N8n } from '../../n8n/n8n';
import { packBuild } from '../../n8n/packageInstall';

const RECORDER_FOLDER = path.join(__dirname, 'recorder');

/** How the files of the suite find it. */
export const SHARED_N8N = 'SHARED_N8N';

let n8n: N8n | undefined;
let removeBuild: (() => Promise<void>) | undefined;

/** Builds the package and starts the n8n that most files of the suite share. */
export default async function openSharedN8n(): Promise<void> {
	const { tarball, remove } = await packBuild();
	removeBuild = remove;
	process.env.PACKED_BUILD = tarball;
	const env = { N8N_CUSTOM_EXTENSIONS: RECORDER_FOLDER, GENERIC_TIMEZONE: 'America/Sao_Paulo' };
	n8n = await startN8n('e2e-shared', { has: 'package', env });
	process.env[SHARED_N8N] = n8n.url;
}

/** Ends it. */
export async function closeSharedN8n(): Promise<void> {
	await n8n?.close();
	await removeBuild?.();
}
