import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { SandboxOptions } from '../../sandbox';
import { until } from '../until';
import { Downstream } from '../e2e/workflows';
import { type N8n, startN8n } from '../n8n/n8n';
import {
	run,
	CleanUp,
	freePort,
	hasEnded,
	killGroup,
	LOOPBACK,
	startGroup,
	tail,
} from '../n8n/processes';

const INSTALLED = '/usr/lib/postgresql';

/** Debian has a folder for the programs of each version of PostgreSQL. */
function folders(): string[] {
	const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
	const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
	const ofPostgres = newestFirst.map((version) => path.join(INSTALLED, version, 'bin'));
	return [...(process.env.PATH ?? '').split(path.delimiter), ...ofPostgres];
}

/** @throws Error that says what to install if the program is missing */
function findProgram(name: string, debianPackage: string): string {
	const files = folders().map((folder) => path.join(folder, name));
	const program = files.find((file) => existsSync(file));
	if (program !== undefined) return program;
	throw new Error(
		`${name} is missing. On Debian and Ubuntu: sudo apt-get install ${debianPackage}`,
	);
}

type Command = [program: string, args: string[]];

/** The system ends the command when this process ends, however it ends. */
function tied([program, args]: Command, endBy: 'KILL' | 'QUIT', user?: string): Command {
	const as = user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--init-groups'];
	const setpriv = findProgram('setpriv', 'util-linux');
	return [setpriv, [...as, '--pdeathsig', endBy, program, ...args]];
}

export interface Server {
	port: number;
	stop: () => Promise<void>;
	/** Like a crash. The server keeps its data on disk. */
	restart: () => Promise<void>;
}

interface ServerOptions {
	port: number;
	program: Command;
	folder: string;
	log: string;
	/** The command that asks whether the server is ready, and its output then. */
	ask: [command: string, args: string[], ready: string];
	/** Ends all processes of the server at once. */
	crash: 'SIGKILL' | 'SIGQUIT';
}

/** Waits until the server is ready. */
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
			return (await run(client, question, cwd).catch(() => undefined)) === ready;
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

async function startRedis(folder: string): Promise<Server> {
	const port = await freePort();
	const args = ['--port', String(port), '--bind', LOOPBACK, '--save', '', '--appendonly', 'yes'];
	const client = findProgram('redis-cli', 'redis-tools');
	return await startServer({
		port,
		program: tied([findProgram('redis-server', 'redis-server'), args], 'KILL'),
		folder,
		log: path.join(folder, 'redis.log'),
		ask: [client, ['-h', LOOPBACK, '-p', String(port), 'ping'], 'PONG'],
		crash: 'SIGKILL',
	});
}

const DATABASE_USER = 'n8n';
const DATABASE = 'postgres';

/** PostgreSQL refuses to run as root. */
export async function startPostgres(folder: string): Promise<Server> {
	const find = (name: string): string => findProgram(name, 'postgresql');
	const user = process.getuid?.() === 0 ? 'postgres' : undefined;
	const home = path.join(folder, 'postgres');
	await mkdir(home);
	if (user !== undefined) await run('chown', [user, home], folder);
	await chmod(folder, 0o755);
	const data = path.join(home, 'data');
	const locale = ['-E', 'UTF8', '--locale=C.UTF-8'];
	const initialize = ['-D', data, '-U', DATABASE_USER, '-A', 'trust', '--no-sync', ...locale];
	await run(...tied([find('initdb'), initialize], 'KILL', user), home);
	const port = await freePort();
	const serve = ['-D', data, '-p', String(port), '-h', LOOPBACK, '-k', home, '-F'];
	return await startServer({
		port,
		program: tied([find('postgres'), serve], 'QUIT', user),
		folder: home,
		log: path.join(folder, 'postgres.log'),
		ask: [find('pg_isready'), ['-q', '-h', LOOPBACK, '-p', String(port)], ''],
		// PostgreSQL recovers from its log.
		crash: 'SIGQUIT',
	});
}

const START_MS = 15 * 60_000;

export interface ClusterOptions {
	name: string;
	workers?: number;
	webhooks?: number;
	sandbox?: SandboxOptions;
	/** More variables for every process. */
	env?: Record<string, string>;
}

/** An n8n in queue mode. Webhooks go to the webhook processes. The first of them has the public address. */
export type Cluster = N8n & { redis: Server; postgres: Server };

export async function startCluster({
	name,
	workers = 2,
	webhooks = 1,
	sandbox = {},
	env,
}: ClusterOptions): Promise<Cluster> {
	const named = (kind: string, count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `${kind}-${nth + 1}`);
	return await CleanUp.begin(async (cleanUp) => {
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
	});
}

export function useCluster(options: ClusterOptions) {
	const stage = {} as { cluster: Cluster; downstream: Downstream };
	beforeAll(async () => {
		stage.cluster = await startCluster(options);
		stage.downstream = await Downstream.open();
	}, START_MS);
	afterAll(async () => {
		await stage.cluster?.close();
		await stage.downstream?.close();
	});
	return stage;
}

function sharedEnvironment(redis: Server, postgres: Server): Record<string, string> {
	return {
		EXECUTIONS_MODE: 'queue',
		N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex'),
		N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
		QUEUE_BULL_REDIS_HOST: LOOPBACK,
		QUEUE_BULL_REDIS_PORT: String(redis.port),
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		N8N_WORKER_SERVER_ADDRESS: LOOPBACK,
		...postgresEnvironment(postgres),
		// With the default of two connections, n8n answers most of a flood with 503.
		DB_POSTGRESDB_POOL_SIZE: '20',
	};
}

/** For an n8n that keeps its data in this PostgreSQL. */
export function postgresEnvironment({ port }: Server): Record<string, string> {
	return {
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: LOOPBACK,
		DB_POSTGRESDB_PORT: String(port),
		DB_POSTGRESDB_USER: DATABASE_USER,
		DB_POSTGRESDB_DATABASE: DATABASE,
	};
}
