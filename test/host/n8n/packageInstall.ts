import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { CleanUp, run } from './processes';
import { withLock } from './host';
import { DATA_FOLDER, PACKAGE_NAME, ROOT } from './paths';

const packageSchema = z
	.object({ name: z.string(), dependencies: z.record(z.string()).optional() })
	.passthrough();

const LEFT_OUT = ['devDependencies', 'peerDependencies', 'optionalDependencies'];

/** Builds the sources in `root`, packs them into `folder`, and returns the path of the tarball. */
async function buildAndPack(root: string, folder: string): Promise<string> {
	const log = path.join(DATA_FOLDER, 'build.log');
	await rm(log, { force: true });
	await run('npm', ['run', 'build'], { cwd: root, log });
	await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root, log });
	const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
	if (packed === undefined) throw new Error('npm pack made no tarball.');
	return path.join(folder, packed);
}

/**
 * Builds the package and packs it, as a release does. Returns the tarball in a temporary folder,
 * and what removes it. Two processes take turns, since they would build into the same folder.
 */
export async function packBuild(): Promise<{ tarball: string; remove: () => Promise<void> }> {
	// For all that run beside each other or one after the other it is built once.
	const built = process.env.PACKED_BUILD;
	if (built !== undefined) return { tarball: built, remove: async () => {} };
	const cleanUp = new CleanUp();
	try {
		const folder = await cleanUp.folder('pack');
		const tarball = await withLock(
			path.join(DATA_FOLDER, 'build.lock'),
			async () => await buildAndPack(ROOT, folder),
		);
		return { tarball, remove: cleanUp.run };
	} catch (error) {
		await cleanUp.run();
		throw error;
	}
}

/**
 * Installs a packed package into n8n's user folder the way n8n's own installer does: unpacked
 * beside its other community packages, with no dependency list left that would bring in a second
 * n8n-workflow. It has no runtime dependencies to install, and is refused if it has.
 */
export async function installPackage(tarball: string, userFolder: string): Promise<void> {
	const nodesFolder = path.join(userFolder, '.n8n', 'nodes');
	const target = path.join(nodesFolder, 'node_modules', PACKAGE_NAME);
	await rm(target, { recursive: true, force: true });
	await mkdir(target, { recursive: true });
	await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], {
		cwd: nodesFolder,
		log: path.join(nodesFolder, 'unpack.log'),
	});
	const manifestPath = path.join(target, 'package.json');
	const manifest = packageSchema.parse(JSON.parse(await readFile(manifestPath, 'utf8')));
	if (manifest.name !== PACKAGE_NAME) throw new Error(`The tarball holds ${manifest.name}.`);
	if (Object.keys(manifest.dependencies ?? {}).length > 0) {
		throw new Error(
			`${PACKAGE_NAME} has runtime dependencies; a verified community node may have none.`,
		);
	}
	const kept = Object.fromEntries(
		Object.entries(manifest).filter(([key]) => !LEFT_OUT.includes(key)),
	);
	await writeFile(manifestPath, JSON.stringify(kept, null, 2));
}
