import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pick from 'lodash/pick';
import { until } from '../until';
import { HOST } from './host';
import { DATA_FOLDER } from './paths';
import {
	endGroup,
	freePort,
	hasEnded,
	killGroup,
	LOOPBACK,
	onlyOnce,
	startGroup,
	tail,
} from './processes';
import { messageOf } from './terminal';

const READY_WITHIN_MS = 180_000;
const STARTED = /Worker started execution (\d+) /g;

/** By the first word in the name of a process. */
const COMMANDS: Record<string, string[]> = {
	main: ['start'],
	worker: ['worker', '--concurrency=5'],
	webhook: ['webhook'],
};

// A person's own n8n settings, a proxy, or the variables of a test runner would change the behavior of n8n.
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'];

const ENVIRONMENT = {
	N8N_LISTEN_ADDRESS: LOOPBACK,
	// A browser keeps no secure cookie from plain HTTP.
	N8N_SECURE_COOKIE: 'false',
	N8N_COMMUNITY_PACKAGES_ENABLED: 'true',
	N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
	// Every start compiles the same code.
	NODE_COMPILE_CACHE: path.join(DATA_FOLDER, 'compiled'),
	// No traffic to the internet.
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_DISABLED_MODULES: 'mcp-registry',
};

/** One process of the pinned n8n. It can start again at the same address, and ends with this process at the latest. */
export class Member {
	/** Called when n8n ends by itself, as it does after a long loss of Redis. */
	onDeath: (lastWords: string) => void = () => {};
	private child: ChildProcess | undefined;
	private starts = 0;

	constructor(
		readonly name: string,
		private readonly port: number,
		readonly userFolder: string,
		private readonly logs: string,
		private readonly env: Record<string, string>,
	) {}

	get url(): string {
		return `http://${LOOPBACK}:${this.port}`;
	}

	get pid(): number {
		return this.child?.pid ?? 0;
	}

	/** The output of the latest start. */
	get log(): string {
		return this.logOf(this.starts);
	}

	stop = async (): Promise<void> => {};

	/** Like a crash. */
	kill = async (): Promise<void> => {};

	/** Waits until n8n accepts requests. */
	async start(env: Record<string, string> = {}): Promise<void> {
		this.starts += 1;
		const { log } = this;
		await mkdir(this.userFolder, { recursive: true });
		await mkdir(path.dirname(log), { recursive: true });
		const child = await this.spawn(env);
		this.child = child;
		let isAsked = false;
		// If n8n gets the signal twice, it does not end in good order.
		this.stop = onlyOnce(async () => {
			isAsked = true;
			await endGroup(child);
		});
		this.kill = async () => {
			isAsked = true;
			await killGroup(child);
		};
		child.once('exit', () => {
			if (!isAsked) void tail(log).then((lastWords) => this.onDeath(lastWords));
		});

		const isReady = async (): Promise<boolean> => {
			if (hasEnded(child)) throw new Error('It has ended.');
			const ask = fetch(`${this.url}/healthz/readiness`, { signal: AbortSignal.timeout(2_000) });
			return (await ask.catch(() => undefined))?.ok ?? false;
		};
		const options = { withinMs: READY_WITHIN_MS, everyMs: 100 };
		await until('n8n is ready', isReady, options).catch(async (error: unknown) => {
			await this.stop();
			const said = `${messageOf(error)}\n${await tail(log)}\n(all of it: ${log})`;
			throw new Error(`n8n did not start. ${said}`);
		});
	}

	/** The executions of a worker. A resumed execution is in the list once for each part. */
	async executions(): Promise<string[]> {
		const logs = Array.from({ length: this.starts }, (_, nth) => this.logOf(nth + 1));
		const texts = await Promise.all(logs.map(async (log) => await readFile(log, 'utf8')));
		return texts.flatMap((text) => [...text.matchAll(STARTED)].map(([, id = '']) => id));
	}

	private async spawn(env: Record<string, string>): Promise<ChildProcess> {
		const output = createWriteStream(this.log);
		await once(output, 'open');
		const command = COMMANDS[this.name.replace(/-.*/, '')] ?? [];
		const end = ['--require', path.join(__dirname, 'endWithParent.ts')];
		const child = startGroup(HOST.node, [...end, HOST.n8n, ...command], {
			cwd: this.userFolder,
			env: {
				...pick(process.env, INHERITED),
				...ENVIRONMENT,
				N8N_USER_FOLDER: this.userFolder,
				N8N_PORT: String(this.port),
				N8N_EDITOR_BASE_URL: `${this.url}/`,
				N8N_RUNNERS_BROKER_PORT: String(await freePort()),
				QUEUE_HEALTH_CHECK_PORT: String(this.port),
				...this.env,
				...env,
			},
			stdio: ['ignore', output, output, 'ipc'],
		});
		child.channel?.unref();
		child.once('exit', () => output.close());
		return child;
	}

	private logOf(nth: number): string {
		return `${this.logs}${nth === 1 ? '' : `-${nth}`}.log`;
	}
}
