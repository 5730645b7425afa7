import { access, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withLock } from '../../n8n/lock';
import { buildAndPack } from '../../n8n/packageInstall';
import { DATA_FOLDER, ROOT } from '../../n8n/paths';
import { run } from '../../n8n/processes';

/** An earlier state of this project, whose forms have the names that saved workflows hold today. */
const COMMIT = '1361acf21e5e5420acfb978e5acd57612f4c616f';
export const OLDER_VERSION = '0.0.9';

const log = path.join(DATA_FOLDER, 'older-version.log');

/** Unpacks the older sources into `folder` and gives them a version of their own. */
async function checkOut(folder: string): Promise<void> {
	const archive = path.join(folder, 'sources.tar');
	await run('git', ['archive', '--output', archive, COMMIT], { cwd: ROOT, log }).catch(() => {
		throw new Error(
			`The commit ${COMMIT}, from which the older version is built, is not in this clone. Get the whole history: git fetch --unshallow`,
		);
	});
	await run('tar', ['-xf', archive, '-C', folder], { cwd: folder, log });
	await run('npm', ['pkg', 'set', `version=${OLDER_VERSION}`], { cwd: folder, log });
	await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
}

/** The path of a tarball of the older version, built from the history of this project, once. */
export async function packOlderVersion(): Promise<string> {
	const kept = path.join(DATA_FOLDER, `older-version-${COMMIT}.tgz`);
	const isKept = (): Promise<boolean> =>
		access(kept).then(
			() => true,
			() => false,
		);
	await withLock(path.join(DATA_FOLDER, 'older-version.lock'), async () => {
		if (await isKept()) return;
		const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-older-'));
		try {
			await checkOut(folder);
			const packed = path.join(folder, 'packed');
			await mkdir(packed);
			await cp(await buildAndPack(folder, packed), kept);
		} finally {
			await rm(folder, { recursive: true, force: true });
		}
	});
	return kept;
}
