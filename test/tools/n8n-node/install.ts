import { access } from 'node:fs/promises';
import path from 'node:path';
import { DATA_FOLDER } from '../../host/n8n/paths';
import { installPinned } from '../../host/n8n/host';

const FOLDER = path.join(DATA_FOLDER, 'n8n-node');
const programIn = (folder: string): string => path.join(folder, 'node_modules', '.bin', 'n8n-node');

/**
 * Installs n8n's official command line once, and returns the program. It is no dependency of the
 * project: it brings packages that `npm ci` refuses where a registry lacks those for other platforms,
 * and a lockfile of its own can leave them out.
 */
export async function installN8nNode(): Promise<string> {
	await installPinned({
		name: "n8n's official command line",
		size: '90 MB',
		configuration: __dirname,
		folder: FOLDER,
		verify: async (folder) => await access(programIn(folder)),
	});
	return programIn(FOLDER);
}
