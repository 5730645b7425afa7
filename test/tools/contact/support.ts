import http, { type RequestListener } from 'node:http';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { chargeAt } from '../../support/charge';
import { contact } from './contact';
import type { Clock } from './service';

export interface Received {
	method: string;
	/** From the Base URL on, without the query. */
	path: string;
	query: Record<string, string>;
	headers: http.IncomingHttpHeaders;
}

export interface Given {
	status: number;
	headers: Record<string, string>;
	/** Parsed JSON; to be changed in place or replaced. */
	json: unknown;
}

/** A difference from what is documented or assumed. */
export interface Contrary {
	options?: SandboxOptions;
	/** Changes a request before the sandbox sees it. */
	ask?: (received: Received) => void;
	/** Changes an answer; `received` is the request as it came in. */
	answer?: (given: Given, received: Received) => void;
}

export interface Service {
	sandbox: Sandbox;
	baseUrl: string;
	close(): Promise<void>;
}

/** The sandbox behind a proxy that turns things the other way. */
export async function startContrary(contraries: Contrary[]): Promise<Service> {
	const sandbox = await startSandbox(
		contraries.reduce<SandboxOptions>(
			(all, { options }) => ({
				...all,
				...options,
				queryNames: { ...all.queryNames, ...options?.queryNames },
			}),
			// Drawing the picture takes most of the time of a charge.
			{ qrImage: 'absent' },
		),
	);
	const server = http.createServer((request, response) => {
		void relay(request, response).catch(() => response.destroy());
	});
	const relay = async (
		request: http.IncomingMessage,
		response: http.ServerResponse,
	): Promise<void> => {
		let body = '';
		for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
		const url = new URL(request.url ?? '', 'http://proxy.test');
		const received = (): Received => ({
			method: request.method ?? '',
			path: url.pathname,
			query: Object.fromEntries(url.searchParams),
			headers: request.headers,
		});
		const changed = received();
		for (const { ask } of contraries) ask?.(changed);
		const { authorization } = request.headers;
		const search = new URLSearchParams(changed.query).toString();
		const answer = await fetch(`${sandbox.baseUrl}${changed.path}?${search}`, {
			method: request.method,
			headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
			...(body !== '' && { body }),
		});
		const given: Given = {
			status: answer.status,
			headers: Object.fromEntries(
				[...answer.headers].filter(([name]) => /^(retry-after|x-ratelimit-\w+)$/.test(name)),
			),
			json: await answer.json(),
		};
		for (const contrary of contraries) contrary.answer?.(given, received());
		response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers });
		response.end(JSON.stringify(given.json));
	};
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	const port = typeof address === 'object' && address !== null ? address.port : 0;
	return {
		sandbox,
		baseUrl: `http://127.0.0.1:${port}`,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
			await sandbox.close();
		},
	};
}

export interface Run {
	exit: number;
	/** Everything that was said. */
	text: string;
	/** By verdict, the checks with what was seen. */
	contradicted: Record<string, string>;
	confirmed: Record<string, string>;
	untold: Record<string, string>;
}

interface RunOptions {
	environment?: Record<string, string | undefined>;
	clock?: Clock;
	/** Told of each text that is said; gets the port once the command listens. */
	onListening?: (port: number) => void;
	listenMs?: number;
	/** Gets what is said, also of a run that fails. */
	said?: string[];
}

/** Runs the command against an address, with the sandbox's tokens. */
export async function run(
	baseUrl: string,
	args: string[] = [],
	{
		environment = {},
		clock = virtualClock(),
		onListening,
		listenMs = 5_000,
		said = [],
	}: RunOptions = {},
): Promise<Run> {
	const exit = await contact({
		args,
		environment: {
			DIGITAL_SALES_BASE_URL: baseUrl,
			DIGITAL_SALES_TOKEN: TOKEN,
			DIGITAL_SALES_SECOND_TOKEN: SECOND_TOKEN,
			...environment,
		},
		clock,
		enough: () => AbortSignal.timeout(listenMs),
		say: (text) => {
			said.push(text);
			const [, port] = /on port (\d+)/.exec(text) ?? [];
			if (port !== undefined) onListening?.(Number(port));
		},
	});
	const text = said.join('\n');
	const sections = text.split('\n## ');
	const section = (title: string): Record<string, string> => {
		const part = sections.find((found) => found.startsWith(title)) ?? '';
		const entries = part.trim().split('\n- `').slice(1);
		return Object.fromEntries(entries.map((entry) => entry.split(/` ([^]*)/)));
	};
	return {
		exit,
		text,
		contradicted: section('Contradicted'),
		confirmed: section('Confirmed'),
		untold: section('Cannot be told'),
	};
}

/** Meets a service of which only its listener is known. */
export async function meetServer(listener: RequestListener, args: string[] = []): Promise<Run> {
	const server = http.createServer(listener);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : undefined;
	try {
		return await run(`http://127.0.0.1:${port}/api`, args);
	} finally {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	}
}

/** Meets a contrary service that has one transaction. */
export async function meet(
	contraries: Contrary[],
	args: (hash: string) => string[] = (hash) => ['--hash', hash],
	send?: (port: number, hash: string) => void,
): Promise<Run & { hash: string; posts: number }> {
	const service = await startContrary(contraries);
	try {
		const hash = await chargeAt(service.sandbox);
		service.sandbox.requests.length = 0;
		const result = await run(service.baseUrl, args(hash), {
			onListening: (port) => send?.(port, hash),
		});
		const posts = service.sandbox.requests.filter(({ method }) => method === 'POST').length;
		return { ...result, hash, posts };
	} finally {
		await service.close();
	}
}

export const TOKEN = 'test-api-token-1234567890';
const SECOND_TOKEN = 'test-body-token-0987654321';

/** A clock on which waiting takes no time. */
export function virtualClock(): Clock & { slept: number[] } {
	const slept: number[] = [];
	let now = 0;
	return {
		slept,
		now: () => now,
		sleep: async (ms) => {
			slept.push(ms);
			now += ms;
			await Promise.resolve();
		},
	};
}

export const methods = (requests: ReadonlyArray<{ method: string }>): string[] =>
	requests.map(({ method }) => method);

/** A sandbox for the tests of a block, reset before each of them. */
export function useSandbox(options: SandboxOptions = {}): { readonly sandbox: Sandbox } {
	let sandbox: Sandbox | undefined;
	beforeAll(async () => {
		sandbox = await startSandbox(options);
	});
	beforeEach(() => sandbox?.reset());
	afterAll(async () => await sandbox?.close());
	return {
		get sandbox(): Sandbox {
			if (!sandbox) throw new Error('The sandbox has not been started');
			return sandbox;
		},
	};
}
