import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { DATA_FOLDER, PACKAGE_NAME, ROOT } from './paths';
import { run } from './processes';

const PACKED = path.join(DATA_FOLDER, 'packed');

/**
 * Builds and packs the package, as a release does. Only one process may do so at a time.
 *
 * @returns the tarball
 */
export async function packBuild(): Promise<string> {
	// The set-up of a suite builds the package once for all files.
	if (process.env.PACKED_BUILD !== undefined) return process.env.PACKED_BUILD;
	await rm(PACKED, { recursive: true, force: true });
	await mkdir(PACKED, { recursive: true });
	await run('npm', ['run', 'build'], ROOT);
	await run('npm', ['pack', '--ignore-scripts', '--pack-destination', PACKED], ROOT);
	const [tarball = ''] = await readdir(PACKED);
	return path.join(PACKED, tarball);
}

/** Builds the package, and unpacks it into the user folders of n8n, where n8n's installer puts it. */
export async function installBuild(userFolders: readonly string[]): Promise<void> {
	const tarball = await packBuild();
	for (const folder of userFolders) {
		const target = path.join(folder, '.n8n', 'nodes', 'node_modules', PACKAGE_NAME);
		await rm(target, { recursive: true, force: true });
		await mkdir(target, { recursive: true });
		await run('tar', ['-xzf', tarball, '--strip-components=1'], target);
	}
}
