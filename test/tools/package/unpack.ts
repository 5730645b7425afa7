import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packBuild } from '../../helpers/n8n/packageInstall';
import { capture } from '../../helpers/n8n/processes';

/** What is in a tarball as it leaves this machine. */
export interface Packed {
	/** Where it is unpacked, with the `package/` that npm puts around it taken off. */
	folder: string;
	/** Every file in it, relative and sorted. */
	files: string[];
	remove: () => Promise<unknown>;
}

/** Builds, packs and unpacks the package. */
export async function packAndUnpack(): Promise<Packed> {
	const { tarball, remove } = await packBuild();
	const unpacked = await unpack(tarball);
	return { ...unpacked, remove: async () => await Promise.all([remove(), unpacked.remove()]) };
}

/** Unpacks a tarball; removing what was unpacked leaves the tarball itself. */
export async function unpack(tarball: string): Promise<Packed> {
	const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-unpacked-'));
	await capture('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'], folder);
	const remove = async () => await rm(folder, { recursive: true, force: true });
	return { folder, files: await filesIn(folder), remove };
}

/** Every file below a folder, relative to it and sorted. */
export async function filesIn(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => !entry.isDirectory())
		.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
		.map((name) => name.split(path.sep).join('/'))
		.sort();
}
