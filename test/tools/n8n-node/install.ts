import { stat } from 'node:fs/promises';
import path from 'node:path';
import { withLock } from '../../host/n8n/lock';
import { DATA_FOLDER } from '../../host/n8n/paths';
import { run } from '../../host/n8n/processes';

const MODULES = path.join(__dirname, 'node_modules');

// npm writes its hidden lockfile when every package is in its place.
async function isInstalled(): Promise<boolean> {
	const [installed, wanted] = await Promise.all([
		stat(path.join(MODULES, '.package-lock.json')).catch(() => undefined),
		stat(path.join(__dirname, 'package-lock.json')),
	]);
	return installed !== undefined && installed.mtimeMs >= wanted.mtimeMs;
}

/**
 * Installs n8n's official command line in this folder, once, and returns the program. It is no
 * dependency of the project: it brings packages that `npm ci` refuses where a registry lacks those
 * for other platforms, and a lockfile of its own can leave them out.
 */
export async function installN8nNode(): Promise<string> {
	await withLock(path.join(DATA_FOLDER, 'n8n-node.lock'), async () => {
		if (await isInstalled()) return;
		await run('npm', ['ci', '--no-audit', '--no-fund'], {
			cwd: __dirname,
			log: path.join(DATA_FOLDER, 'n8n-node.log'),
		});
	});
	return path.join(MODULES, '.bin', 'n8n-node');
}
