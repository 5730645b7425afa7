import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CleanUp } from '../../n8n/cleanUp';
import { CREDENTIAL_TYPE } from '../../n8n/paths';
import { installHost } from '../../n8n/host';
import { spawnN8n, type N8nProcess } from '../../n8n/instance';
import { installPackage, packBuild } from '../../n8n/packageInstall';
import { DATA_FOLDER } from '../../n8n/paths';
import { freePort, LOOPBACK } from '../../n8n/ports';
import { DEMO_LOGIN, N8nRest, type SavedCredential } from '../../n8n/rest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox';
import { DATABASE, DATABASE_USER, startPostgres } from './postgres';
import { startRedis, type Server } from './redis';

const STARTED = /Worker started execution (\d+) /g;

/** How many processes of each kind; one main is always there. */
export interface ClusterOptions {
	name: string;
	workers?: number;
	webhooks?: number;
	/** How many executions a worker runs at a time. */
	concurrency?: number;
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
		const numbers = Array.from({ length: this.starts }, (_, index) => index + 1);
		const texts = await Promise.all(
			numbers.map(async (nth) => await readFile(this.log(nth), 'utf8')),
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
		readonly workers: Member[],
		readonly webhooks: Member[],
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
			const workers = others.filter(({ name }) => name.startsWith('worker'));
			const webhooks = others.filter(({ name }) => name.startsWith('webhook'));
			return new Cluster(
				sandbox,
				rest,
				credential,
				main,
				workers,
				webhooks,
				redis,
				postgres,
				cleanUp.run,
			);
		} catch (error) {
			await cleanUp.run();
			throw error;
		}
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
	{ name: logName, workers = 2, webhooks = 1, concurrency = 5, env }: ClusterOptions,
	folder: string,
	redis: Server,
	postgres: Server,
): Promise<Member[]> {
	const kinds = [
		{ name: 'main', command: ['start'] },
		...Array.from({ length: workers }, (_, nth) => ({
			name: `worker-${nth + 1}`,
			command: ['worker', `--concurrency=${concurrency}`],
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
