import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packAndUnpack } from '../../../tools/package/unpack';
import { DATA_FOLDER } from '../../n8n/paths';
import { run } from '../../n8n/processes';

export const OLDER_VERSION = '0.0.9';
/** What the older version says of its node, and the present one does not. */
export const OLDER_TEXT = 'Of an older version';

const NODE = path.join('dist', 'nodes', 'DigitalSales', 'DigitalSales.node.js');

/**
 * Packs the present package into `folder` under an older number, and returns the tarball. Its code is
 * of today but for one text, by which it shows which of the two is loaded.
 */
export async function packOlderVersion(folder: string): Promise<string> {
	const { folder: contents, remove } = await packAndUnpack();
	try {
		const node = path.join(contents, NODE);
		const code = await readFile(node, 'utf8');
		await writeFile(node, code.replace(/(description: )'[^']*'/, `$1'${OLDER_TEXT}'`));
		const log = path.join(DATA_FOLDER, 'older-version.log');
		await run('npm', ['pkg', 'set', `version=${OLDER_VERSION}`], { cwd: contents, log });
		const pack = ['pack', '--ignore-scripts', '--pack-destination', folder];
		await run('npm', pack, { cwd: contents, log });
	} finally {
		await remove();
	}
	const packed = (await readdir(folder)).find((name) => name.endsWith(`-${OLDER_VERSION}.tgz`));
	return path.join(folder, packed ?? '');
}
