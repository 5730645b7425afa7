import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { installHost } from './host';
import {
	endGroup,
	freePort,
	hasEnded,
	killGroup,
	LOOPBACK,
	onlyOnce,
	onEnd,
	startGroup,
	tail,
} from './processes';
import { DATA_FOLDER } from './paths';

const READY_WITHIN_MS = 180_000;

/** What a process of n8n is started with. */
export interface N8nProcessOptions {
	userFolder: string;
	/** What n8n is to be: `start` (default), or `worker` and `webhook` of a distributed n8n. */
	command?: string[];
	/** The preferred port; another one is used if it is taken. */
	port?: number;
	env?: Record<string, string>;
	/** The file that its output goes to. */
	log: string;
}

/** A running process of n8n. */
export interface N8nProcess {
	url: string;
	log: string;
	/** Its process, for measurements. */
	pid: number;
	stop(): Promise<void>;
	/** Ends it as a crash does, with no time to put anything in order. */
	kill(): Promise<void>;
	/** Settles only if it ends without having been asked to, with the end of its log. */
	died: Promise<string>;
}

// Only what a process needs to run at all: the person's own n8n settings, a proxy, or the variables
// of a test runner would change how this n8n behaves.
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'];

function inheritedEnvironment(): NodeJS.ProcessEnv {
	return Object.fromEntries(INHERITED.map((name) => [name, process.env[name]]));
}

function ownEnvironment(
	userFolder: string,
	port: number,
	brokerPort: number,
): Record<string, string> {
	const url = `http://${LOOPBACK}:${port}/`;
	return {
		N8N_USER_FOLDER: userFolder,
		N8N_PORT: String(port),
		N8N_LISTEN_ADDRESS: LOOPBACK,
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		N8N_EDITOR_BASE_URL: url,
		N8N_WEBHOOK_URL: url,
		// The editor is served over plain HTTP here, where a browser would not keep a secure cookie.
		N8N_SECURE_COOKIE: 'false',
		N8N_COMMUNITY_PACKAGES_ENABLED: 'true',
		N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
		// Every start compiles the same code.
		NODE_COMPILE_CACHE: path.join(DATA_FOLDER, 'compiled'),
		...NO_OUTWARD_TRAFFIC,
	};
}

const NO_OUTWARD_TRAFFIC = {
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	// The catalog of verified community nodes and the registry of MCP servers come from outside.
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_DISABLED_MODULES: 'mcp-registry',
};

async function answers(url: string): Promise<boolean> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
		return response.ok;
	} catch {
		return false;
	}
}

/**
 * Starts a process of the pinned n8n on the loopback address and waits until it takes requests. It ends when
 * stopped, on Ctrl-C, and when this process ends in any other way.
 */
export async function spawnN8n(options: N8nProcessOptions): Promise<N8nProcess> {
	const host = await installHost();
	const { userFolder, log, command = ['start'] } = options;
	await mkdir(userFolder, { recursive: true });
	await mkdir(path.dirname(log), { recursive: true });
	const port = await freePort(options.port);
	const url = `http://${LOOPBACK}:${port}`;
	const output = createWriteStream(log);
	await new Promise((resolve) => output.once('open', resolve));
	const child = startGroup(
		host.node,
		['--require', path.join(__dirname, 'endWithParent.ts'), host.n8n, ...command],
		{
			cwd: userFolder,
			env: {
				...inheritedEnvironment(),
				...ownEnvironment(userFolder, port, await freePort()),
				...options.env,
			},
			stdio: ['ignore', output, output, 'ipc'],
		},
	);
	child.channel?.unref();
	let fault: Error | undefined;
	child.once('error', (error) => (fault = error));
	let asked = false;
	// Asked twice to end, n8n gives up on ending in good order.
	const stop = onlyOnce(async () => {
		asked = true;
		await endGroup(child);
	});
	const kill = async (): Promise<void> => {
		asked = true;
		await killGroup(child);
	};
	const forget = onEnd(stop);
	const died = new Promise<string>((resolve) => {
		child.once('exit', () => {
			forget();
			output.close();
			if (!asked) void tail(log).then(resolve);
		});
	});

	const deadline = Date.now() + READY_WITHIN_MS;
	while (!(await answers(`${url}/healthz/readiness`))) {
		const ended = hasEnded(child) || fault !== undefined;
		if (ended || Date.now() > deadline) {
			await stop();
			const what = ended ? 'ended before it was ready' : 'was not ready in time';
			throw new Error(
				`n8n ${what}${fault ? `: ${fault.message}` : '.'}\n${await tail(log)}\n(all of it: ${log})`,
			);
		}
		await pause(100);
	}
	return { url, log, pid: child.pid ?? 0, stop, kill, died };
}
