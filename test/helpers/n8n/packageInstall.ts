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
 * Builds the package and packs it, as a release does. Returns the tarball in a temporary folder,
 * and what removes it. Two processes take turns, since they would build into the same folder.
 */
export async function packBuild(): Promise<{ tarball: string; remove: () => Promise<void> }> {
	// For all that run beside each other or one after the other it is built once.
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
	const text = await readFile(manifestPath, 'utf8');
	const { name, dependencies, ...manifest } = packageSchema.parse(JSON.parse(text));
	if (name !== PACKAGE_NAME) throw new Error(`The tarball holds ${name}.`);
	if (Object.keys(dependencies).length > 0) {
		throw new Error(`${name} has runtime dependencies; a verified community node may have none.`);
	}
	await writeFile(manifestPath, JSON.stringify({ name, ...omit(manifest, LEFT_OUT) }, null, 2));
}
