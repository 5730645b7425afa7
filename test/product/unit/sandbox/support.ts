import http from 'node:http';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox';

export interface Reply {
	status: number;
	headers: Headers;
	text: string;
	body: unknown;
}

/** A sandbox for the tests of one describe block, reset before each of them. */
export function useSandbox(options: SandboxOptions = {}): { readonly sandbox: Sandbox } {
	const held: { sandbox?: Sandbox } = {};
	beforeAll(async () => {
		held.sandbox = await startSandbox(options);
	});
	beforeEach(() => held.sandbox?.reset());
	afterAll(async () => await held.sandbox?.close());
	return {
		get sandbox(): Sandbox {
			if (!held.sandbox) throw new Error('The sandbox has not been started');
			return held.sandbox;
		},
	};
}

export async function call(
	sandbox: Sandbox,
	method: string,
	path: string,
	body?: unknown,
	headers: Record<string, string> = {},
): Promise<Reply> {
	const response = await fetch(path.startsWith('http') ? path : sandbox.baseUrl + path, {
		method,
		redirect: 'manual',
		headers: {
			authorization: `Bearer ${sandbox.apiToken}`,
			accept: 'application/json',
			'content-type': 'application/json',
			...headers,
		},
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	const text = await response.text();
	return { status: response.status, headers: response.headers, text, body: parse(text) };
}

/** A value deep in a parsed body, e.g. `at(body, 'data', 0, 'hash')`. */
export function at(body: unknown, ...path: Array<string | number>): unknown {
	let value: unknown = body;
	for (const step of path) value = (value as Record<string | number, unknown> | undefined)?.[step];
	return value;
}

/** The hashes of the products of a page. */
export function hashes(body: unknown): string[] {
	const data = at(body, 'data');
	return Array.isArray(data) ? data.map((product) => String(at(product, 'hash'))) : [];
}

/** A body that POST /transactions accepts; amounts in cents. */
export function order(sandbox: Sandbox, changes: Record<string, unknown> = {}): object {
	return {
		api_token: sandbox.bodyApiToken,
		amount: 1990,
		payment_method: 'pix',
		cart: [
			{
				offer_hash: sandbox.products[0]?.offers[0]?.hash,
				price: 1990,
				quantity: 1,
				operation_type: 1,
				title: 'Curso',
				cover: 'https://cdn.sandbox.test/a.jpg',
			},
		],
		installments: 1,
		customer: {
			name: 'João da Conceição',
			email: 'joao@cliente.test',
			phone_number: '11987654321',
			document: '52998224725',
		},
		...changes,
	};
}

export async function create(sandbox: Sandbox, changes?: Record<string, unknown>): Promise<string> {
	const reply = await call(sandbox, 'POST', '/transactions', order(sandbox, changes));
	if (reply.status !== 201) throw new Error(reply.text);
	return String(at(reply.body, 'hash'));
}

export interface Receiver {
	url: string;
	/** Bodies of the notices, in the order of their arrival. */
	notices: unknown[];
	/** What to do with the nth notice; default is to answer 200. */
	answer: (nth: number, response: http.ServerResponse, body: unknown) => void;
	close(): Promise<void>;
}

/** Somebody who is notified. */
export async function startReceiver(): Promise<Receiver> {
	const receiver: Receiver = {
		url: '',
		notices: [],
		answer: (_nth, response) => response.end('{}'),
		close: async () => await new Promise((resolve) => server.close(() => resolve())),
	};
	const server = http.createServer((request, response) => {
		let text = '';
		request.on('data', (chunk: Buffer) => (text += chunk.toString()));
		request.on('end', () => {
			const body = parse(text);
			receiver.notices.push(body);
			receiver.answer(receiver.notices.length, response, body);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('No port');
	receiver.url = `http://127.0.0.1:${address.port}/hook`;
	return receiver;
}

/** Waits until a condition holds, for at most two seconds. */
export async function until(condition: () => boolean): Promise<void> {
	const end = Date.now() + 2000;
	while (!condition()) {
		if (Date.now() > end) throw new Error('Waited in vain');
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}
