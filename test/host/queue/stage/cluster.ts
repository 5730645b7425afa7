import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, mkdir, readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox';
import { until } from '../../../support/until';
import { installHost } from '../../n8n/host';
import { type N8nProcess, spawnN8n } from '../../n8n/instance';
import { installPackage, packBuild } from '../../n8n/packageInstall';
import { CREDENTIAL_TYPE, DATA_FOLDER } from '../../n8n/paths';
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
import { DEMO_LOGIN, N8nRest, type SavedCredential } from '../../n8n/rest';

async function isProgram(file: string): Promise<boolean> {
	return await access(file, constants.X_OK).then(
		() => true,
		() => false,
	);
}

/** The path of a program; `more` are folders beside those of PATH. Says what to install without it. */
async function findProgram(
	name: string,
	debianPackage: string,
	more: string[] = [],
): Promise<string> {
	const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...more];
	for (const folder of folders) {
		const file = path.join(folder, name);
		if (await isProgram(file)) return file;
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

/** Starts a server with its output in `log`, and waits until `isReady`. */
async function startServer(
	[command, args]: [command: string, args: string[]],
	{ cwd, log, isReady }: { cwd: string; log: string; isReady: () => Promise<boolean> },
): Promise<ChildProcess> {
	const output = createWriteStream(log, { flags: 'a' });
	await new Promise((resolve) => output.once('open', resolve));
	const child = startGroup(command, args, { cwd, stdio: ['ignore', output, output] });
	child.once('exit', () => output.close());
	await until(`${path.basename(command)} starts`, async () => {
		if (await isReady()) return true;
		if (hasEnded(child)) throw new Error(`${command} has ended.\n${await tail(log)}`);
		return false;
	});
	return child;
}

/** A server of the distributed n8n, on a port of its own. */
export interface Server {
	port: number;
	stop: () => Promise<void>;
	/** Ends it as a crash does, and starts it again with what it has on disk. */
	restart: () => Promise<void>;
}

async function answersPing(port: number): Promise<boolean> {
	return await new Promise((resolve) => {
		const socket = connect({ port, host: LOOPBACK }, () => socket.write('PING\r\n'));
		socket.setTimeout(1_000, () => socket.destroy());
		socket.once('data', (answer: Buffer) => {
			resolve(answer.toString().startsWith('+PONG'));
			socket.destroy();
		});
		socket.once('error', () => resolve(false));
		socket.once('close', () => resolve(false));
	});
}

/** Starts a Redis that keeps on disk what it is told. */
async function startRedis(folder: string): Promise<Server> {
	const program = await findProgram('redis-server', 'redis-server');
	const port = await freePort();
	const args = ['--port', String(port), '--bind', LOOPBACK, '--save', '', '--appendonly', 'yes'];
	const start = async () =>
		await startServer(await tied(program, args, { endBy: 'KILL' }), {
			cwd: folder,
			log: path.join(folder, 'redis.log'),
			isReady: async () => await answersPing(port),
		});
	let child = await start();
	const stop = async () => await killGroup(child);
	const restart = async () => {
		await stop();
		child = await start();
	};
	return { port, stop, restart };
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

const STARTED = /Worker started execution (\d+) /g;

/** How many processes of each kind; one main is always there. */
export interface ClusterOptions {
	name: string;
	workers?: number;
	webhooks?: number;
	sandbox?: SandboxOptions;
	/** More environment of every process. */
	env?: Record<string, string>;
}

/** One process of a distributed n8n, which can be started again at the same address. */
export class Member {
	/** Called when it has ended by itself, as n8n does if Redis is away for long. */
	onDeath = (): void => {};
	private running: N8nProcess | undefined;
	private starts = 0;

	constructor(
		readonly name: string,
		readonly port: number,
		private readonly command: string[],
		private readonly folder: string,
		private readonly logName: string,
		private readonly env: Record<string, string>,
	) {}

	get url(): string {
		return `http://${LOOPBACK}:${this.port}`;
	}

	async start(): Promise<void> {
		this.starts += 1;
		this.running = await spawnN8n({
			userFolder: path.join(this.folder, this.name),
			command: this.command,
			port: this.port,
			env: this.env,
			log: this.log(this.starts),
		});
		void this.running.died.then(() => this.onDeath());
	}

	async stop(): Promise<void> {
		await this.running?.stop();
	}

	/** Ends it as a crash does. */
	async kill(): Promise<void> {
		await this.running?.kill();
	}

	/** The executions that it worked on, resumed ones once for each part. */
	async executions(): Promise<string[]> {
		const texts = await Promise.all(
			Array.from(
				{ length: this.starts },
				async (_, nth) => await readFile(this.log(nth + 1), 'utf8'),
			),
		);
		return texts.flatMap((text) => [...text.matchAll(STARTED)].map(([, id = '']) => id));
	}

	private log(nth: number): string {
		const again = nth === 1 ? '' : `-${nth}`;
		return path.join(DATA_FOLDER, `${this.logName}-${this.name}${again}.log`);
	}
}

/**
 * A distributed n8n (queue mode) with the package in each of its processes, and a sandbox to which
 * its credential leads. The main process takes no production webhooks: those go to the webhook
 * processes, the first of which stands for the public address.
 */
export class Cluster {
	private constructor(
		readonly sandbox: Sandbox,
		readonly rest: N8nRest,
		readonly credential: SavedCredential,
		readonly main: Member,
		private readonly others: Member[],
		readonly redis: Server,
		readonly postgres: Server,
		readonly close: () => Promise<void>,
	) {}

	/** Starts everything; `name` names the logs. */
	static async open(options: ClusterOptions): Promise<Cluster> {
		await installHost();
		const cleanUp = new CleanUp();
		try {
			const folder = await cleanUp.folder(options.name);
			const redis = await startRedis(folder);
			cleanUp.add(redis.stop);
			const postgres = await startPostgres(folder);
			cleanUp.add(postgres.stop);
			const members = await membersOf(options, folder, redis, postgres);
			cleanUp.add(async () => {
				await Promise.all(members.map(async (member) => await member.stop()));
			});
			const [main, ...others] = members;
			if (main === undefined) throw new Error('There is no main process.');
			// It brings the database up to date, which the others expect to find.
			await main.start();
			await Promise.all(others.map(async (member) => await member.start()));
			const sandbox = await startSandbox(options.sandbox);
			cleanUp.add(async () => await sandbox.close());
			const rest = new N8nRest(main.url);
			await rest.signIn(DEMO_LOGIN);
			const credential = await rest.createCredential('Sandbox', CREDENTIAL_TYPE, {
				baseUrl: sandbox.baseUrl,
				apiToken: sandbox.apiToken,
				bodyApiToken: sandbox.bodyApiToken,
			});
			return new Cluster(sandbox, rest, credential, main, others, redis, postgres, cleanUp.run);
		} catch (error) {
			await cleanUp.run();
			throw error;
		}
	}

	get workers(): Member[] {
		return this.others.filter(({ name }) => name.startsWith('worker'));
	}

	get webhooks(): Member[] {
		return this.others.filter(({ name }) => name.startsWith('webhook'));
	}

	/** The public address, at which the first webhook process listens. */
	get url(): string {
		return this.webhooks[0]?.url ?? '';
	}

	/** The same address at each of the webhook processes. */
	atEach(address: string): string[] {
		return this.webhooks.map(({ url }) => address.replace(this.url, url));
	}

	/** The name of the worker that ran an execution last. */
	async workerOf(executionId: string): Promise<string | undefined> {
		for (const worker of this.workers) {
			if ((await worker.executions()).includes(executionId)) return worker.name;
		}
		return undefined;
	}
}

async function membersOf(
	{ name: logName, workers = 2, webhooks = 1, env }: ClusterOptions,
	folder: string,
	redis: Server,
	postgres: Server,
): Promise<Member[]> {
	const kinds = [
		{ name: 'main', command: ['start'] },
		...Array.from({ length: workers }, (_, nth) => ({
			name: `worker-${nth + 1}`,
			command: ['worker', '--concurrency=5'],
		})),
		...Array.from({ length: webhooks }, (_, nth) => ({
			name: `webhook-${nth + 1}`,
			command: ['webhook'],
		})),
	];
	const { tarball, remove } = await packBuild();
	for (const { name } of kinds) await installPackage(tarball, path.join(folder, name));
	await remove();
	const ports = new Map<string, number>();
	for (const { name } of kinds) ports.set(name, await freePort());
	const shared = sharedEnvironment(redis, postgres, ports.get('webhook-1') ?? 0);
	return kinds.map(({ name, command }) => {
		const port = ports.get(name) ?? 0;
		return new Member(name, port, command, folder, logName, {
			...shared,
			...env,
			QUEUE_HEALTH_CHECK_PORT: String(port),
		});
	});
}

/** What all processes have to agree on. */
function sharedEnvironment(
	redis: Server,
	postgres: Server,
	publicPort: number,
): Record<string, string> {
	const publicUrl = `http://${LOOPBACK}:${publicPort}/`;
	return {
		EXECUTIONS_MODE: 'queue',
		N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex'),
		N8N_WEBHOOK_URL: publicUrl,
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
