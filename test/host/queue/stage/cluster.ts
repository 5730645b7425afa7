import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { SandboxOptions } from '../../../sandbox';
import { until } from '../../../support/until';
import { type N8n, startN8n } from '../../n8n/n8n';
import {
	capture,
	CleanUp,
	freePort,
	hasEnded,
	killGroup,
	LOOPBACK,
	startGroup,
	tail,
} from '../../n8n/processes';

/** The path of a program; `more` are folders beside those of PATH. Says what to install without it. */
async function findProgram(
	name: string,
	debianPackage: string,
	more: string[] = [],
): Promise<string> {
	const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...more];
	for (const folder of folders) {
		const file = path.join(folder, name);
		const isProgram = await access(file, constants.X_OK).then(
			() => true,
			() => false,
		);
		if (isProgram) return file;
	}
	throw new Error(
		`${name} is missing. On Debian and Ubuntu: sudo apt-get install ${debianPackage}`,
	);
}

/**
 * A command that runs `program` as `user` (undefined: as oneself) and has the system end it when this
 * process ends in whichever way.
 */
async function tied(
	program: string,
	args: string[],
	{ user, endBy }: { user?: string; endBy: 'KILL' | 'QUIT' },
): Promise<[command: string, args: string[]]> {
	const setpriv = await findProgram('setpriv', 'util-linux');
	const as = user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--init-groups'];
	return [setpriv, [...as, '--pdeathsig', endBy, program, ...args]];
}

/** A server of the distributed n8n, on a port of its own. */
export interface Server {
	port: number;
	stop: () => Promise<void>;
	/** Ends it as a crash does, and starts it again with what it has on disk. */
	restart: () => Promise<void>;
}

interface ServerOptions {
	port: number;
	program: [command: string, args: string[]];
	folder: string;
	log: string;
	/** Asks it whether it is ready, and what is then printed. */
	ask: [command: string, args: string[], ready: string];
	/** Ends it at once, with all of its processes. */
	crash: 'SIGKILL' | 'SIGQUIT';
}

/** Starts a server with its output in `log`, and waits until it is ready. */
async function startServer({
	port,
	program: [command, args],
	folder: cwd,
	log,
	ask: [client, question, ready],
	crash,
}: ServerOptions): Promise<Server> {
	const start = async (): Promise<ChildProcess> => {
		const output = createWriteStream(log, { flags: 'a' });
		await once(output, 'open');
		const child = startGroup(command, args, { cwd, stdio: ['ignore', output, output] });
		child.once('exit', () => output.close());
		await until(`${path.basename(command)} starts`, async () => {
			if (hasEnded(child)) throw new Error(`${command} has ended.\n${await tail(log)}`);
			return (await capture(client, question, cwd).catch(() => undefined)) === ready;
		});
		return child;
	};
	let child = await start();
	return {
		port,
		stop: async () => await killGroup(child),
		restart: async () => {
			const gone = once(child, 'exit');
			child.kill(crash);
			await gone;
			child = await start();
		},
	};
}

/** Starts a Redis that keeps on disk what it is told. */
async function startRedis(folder: string): Promise<Server> {
	const program = await findProgram('redis-server', 'redis-server');
	const client = await findProgram('redis-cli', 'redis-tools');
	const port = await freePort();
	const args = ['--port', String(port), '--bind', LOOPBACK, '--save', '', '--appendonly', 'yes'];
	return await startServer({
		port,
		program: await tied(program, args, { endBy: 'KILL' }),
		folder,
		log: path.join(folder, 'redis.log'),
		ask: [client, ['-h', LOOPBACK, '-p', String(port), 'ping'], 'PONG'],
		crash: 'SIGKILL',
	});
}

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
	return await startServer({
		port,
		program: await tied(await find('postgres'), serve, { user, endBy: 'QUIT' }),
		folder: home,
		log: path.join(folder, 'postgres.log'),
		ask: [await find('pg_isready'), ['-q', '-h', LOOPBACK, '-p', String(port)], ''],
		// What is in its log is recovered.
		crash: 'SIGQUIT',
	});
}

/** How many processes of each kind; one main is always there. */
export interface ClusterOptions {
	name: string;
	workers?: number;
	webhooks?: number;
	sandbox?: SandboxOptions;
	/** More environment of every process. */
	env?: Record<string, string>;
}

/**
 * A distributed n8n (queue mode). The main process takes no production webhooks: those go to the
 * webhook processes, the first of which stands for the public address.
 */
export type Cluster = N8n & { redis: Server; postgres: Server };

/** Starts everything; `name` names the logs. */
export async function startCluster({
	name,
	workers = 2,
	webhooks = 1,
	sandbox = {},
	env,
}: ClusterOptions): Promise<Cluster> {
	const named = (kind: string, count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `${kind}-${nth + 1}`);
	const cleanUp = new CleanUp();
	try {
		const folder = await cleanUp.folder(`${name}-servers`);
		const redis = await startRedis(folder);
		cleanUp.add(redis.stop);
		const postgres = await startPostgres(folder);
		cleanUp.add(postgres.stop);
		const n8n = await startN8n(name, {
			sandbox,
			others: [...named('worker', workers), ...named('webhook', webhooks)],
			env: { ...sharedEnvironment(redis, postgres), ...env },
		});
		cleanUp.add(n8n.close);
		return Object.assign(n8n, { redis, postgres, close: cleanUp.run });
	} catch (error) {
		await cleanUp.run();
		throw error;
	}
}

/** What all processes have to agree on. */
function sharedEnvironment(redis: Server, postgres: Server): Record<string, string> {
	return {
		EXECUTIONS_MODE: 'queue',
		N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex'),
		N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
		QUEUE_BULL_REDIS_HOST: LOOPBACK,
		QUEUE_BULL_REDIS_PORT: String(redis.port),
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		N8N_WORKER_SERVER_ADDRESS: LOOPBACK,
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: LOOPBACK,
		DB_POSTGRESDB_PORT: String(postgres.port),
		DB_POSTGRESDB_USER: DATABASE_USER,
		DB_POSTGRESDB_DATABASE: DATABASE,
		// With its default of two connections n8n answers most of a flood itself, with 503.
		DB_POSTGRESDB_POOL_SIZE: '20',
	};
}
