import { chmod, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { freePort, LOOPBACK } from '../../n8n/ports';
import { capture, killGroup } from '../../n8n/processes';
import { findProgram, startServer, tied } from './program';
import type { Server } from './redis';

const INSTALLED = '/usr/lib/postgresql';
export const DATABASE_USER = 'n8n';
export const DATABASE = 'postgres';

// Debian puts these beside no other program, one folder a version.
async function programFolders(): Promise<string[]> {
	const versions = await readdir(INSTALLED).catch(() => []);
	return versions
		.sort((a, b) => Number(b) - Number(a))
		.map((version) => path.join(INSTALLED, version, 'bin'));
}

/** Starts a PostgreSQL with an empty database in `folder`. It refuses to run as root. */
export async function startPostgres(folder: string): Promise<Server> {
	const folders = await programFolders();
	const find = async (name: string): Promise<string> =>
		await findProgram(name, 'postgresql', folders);
	const user = process.getuid?.() === 0 ? 'postgres' : undefined;
	const home = path.join(folder, 'postgres');
	await mkdir(home);
	if (user !== undefined) await capture('chown', [user, home], folder);
	await chmod(folder, 0o755);
	const data = path.join(home, 'data');
	const initialize = ['-D', data, '-U', DATABASE_USER, '-A', 'trust', '-E', 'UTF8', '--no-sync'];
	const [command, args] = await tied(await find('initdb'), initialize, { user, endBy: 'KILL' });
	await capture(command, [...args, '--locale=C.UTF-8'], home);
	const port = await freePort();
	const serve = ['-D', data, '-p', String(port), '-h', LOOPBACK, '-k', home, '-F'];
	const isReady = await find('pg_isready');
	const program = await tied(await find('postgres'), serve, { user, endBy: 'QUIT' });
	const start = async () =>
		await startServer(program, {
			cwd: home,
			log: path.join(folder, 'postgres.log'),
			isReady: async () =>
				await capture(isReady, ['-q', '-h', LOOPBACK, '-p', String(port)], folder).then(
					() => true,
					() => false,
				),
		});
	let child = await start();
	const restart = async () => {
		const gone = new Promise((resolve) => child.once('exit', resolve));
		// Its "immediate" end, which takes its own processes along; what is in the log is recovered.
		child.kill('SIGQUIT');
		await gone;
		child = await start();
	};
	return { port, stop: async () => await killGroup(child), restart };
}
