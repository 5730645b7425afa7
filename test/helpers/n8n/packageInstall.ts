import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import omit from 'lodash/omit';
import { z } from 'zod';
import { CleanUp, run } from './processes';
import { withLock } from './host';
import { DATA_FOLDER, PACKAGE_NAME, ROOT } from './paths';

const packageSchema = z
	.object({ name: z.string(), dependencies: z.record(z.string()).default({}) })
	.passthrough();

const LEFT_OUT = ['devDependencies', 'peerDependencies', 'optionalDependencies'];

/**
 * Builds and packs the package, as a release does. One process builds at a time, because all build into one folder.
 *
 * @returns the tarball in a temporary folder, and a function that removes the folder
 */
export async function packBuild(): Promise<{ tarball: string; remove: () => Promise<void> }> {
	// The global set-up of a suite builds the package once for all files.
	const built = process.env.PACKED_BUILD;
	if (built !== undefined) return { tarball: built, remove: async () => {} };
	return await CleanUp.begin(async (cleanUp) => {
		const folder = await cleanUp.folder('pack');
		const log = path.join(DATA_FOLDER, 'build.log');
		await withLock(ROOT, async () => {
			await rm(log, { force: true });
			await run('npm', ['run', 'build'], { cwd: ROOT, log });
			const pack = ['pack', '--ignore-scripts', '--pack-destination', folder];
			await run('npm', pack, { cwd: ROOT, log });
		});
		const [tarball = ''] = await readdir(folder);
		return { tarball: path.join(folder, tarball), remove: cleanUp.run };
	});
}

/** Builds the package, and installs it into the user folders. */
export async function installBuild(userFolders: readonly string[]): Promise<void> {
	const { tarball, remove } = await packBuild();
	for (const folder of userFolders) await installPackage(tarball, folder);
	await remove();
}

/**
 * Installs a tarball into n8n's user folder as n8n's installer does: without the dependency lists, which would add a
 * second n8n-workflow.
 *
 * @throws Error if the package has runtime dependencies
 */
async function installPackage(tarball: string, userFolder: string): Promise<void> {
	const nodesFolder = path.join(userFolder, '.n8n', 'nodes');
	const target = path.join(nodesFolder, 'node_modules', PACKAGE_NAME);
	await rm(target, { recursive: true, force: true });
	await mkdir(target, { recursive: true });
	await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], {
		cwd: nodesFolder,
		log: path.join(nodesFolder, 'unpack.log'),
	});
	const manifestPath = path.join(target, 'package.json');
	const text = await readFile(manifestPath, 'utf8');
	const { name, dependencies, ...manifest } = packageSchema.parse(JSON.parse(text));
	if (name !== PACKAGE_NAME) throw new Error(`The tarball holds ${name}.`);
	if (Object.keys(dependencies).length > 0) {
		throw new Error(`${name} has runtime dependencies; a verified community node may have none.`);
	}
	await writeFile(manifestPath, JSON.stringify({ name, ...omit(manifest, LEFT_OUT) }, null, 2));
}
