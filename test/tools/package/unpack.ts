import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packBuild } from '../../helpers/n8n/package';
import { run } from '../../helpers/n8n/processes';

/** The content of a tarball. */
export interface Packed {
	/** The unpacked tarball, without npm's folder `package/`. */
	folder: string;
	/** Relative and sorted. */
	files: string[];
	remove: () => Promise<unknown>;
}

/** Builds, packs and unpacks the package. */
export async function packAndUnpack(): Promise<Packed> {
	return await unpack(await packBuild());
}

/** Unpacks a tarball. `remove` leaves the tarball itself. */
export async function unpack(tarball: string): Promise<Packed> {
	const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-unpacked-'));
	await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'], folder);
	const remove = async () => await rm(folder, { recursive: true, force: true });
	return { folder, files: await filesIn(folder), remove };
}

/** All files in a folder and its subfolders, relative to the folder and sorted. */
export async function filesIn(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => !entry.isDirectory())
		.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
		.map((name) => name.split(path.sep).join('/'))
		.sort();
}
