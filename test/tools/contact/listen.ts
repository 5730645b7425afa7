import http from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { gunzipSync, inflateSync } from 'node:zlib';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { kindOf, type Shown } from './documented';

/** A request that came in with a body. */
export interface Received {
	method: string;
	/** Without its parameters. */
	contentType: string;
	/** The names of its headers and query parameters. */
	headers: string[];
	query: string[];
	/** As n8n hands it to the trigger; undefined if it is neither JSON nor a form. */
	body: unknown;
	/** The same, but read as JSON whatever the content type says. */
	content: unknown;
	text: string;
}

export interface Heard {
	/** The webhook; undefined if none came. */
	notice?: Received;
	/** How many other requests came with a body. */
	others: number;
}

export interface Waiting {
	isAwaited: (received: Received) => boolean;
	/** Called if a request came that is not awaited. */
	onOther: () => void;
	enough: AbortSignal;
}

export interface Listener {
	port: number;
	/** The first request that is awaited, else the first with fields once it is enough. */
	first(waiting: Waiting): Promise<Heard>;
	close(): Promise<void>;
}

const LARGEST_NOTICE = 262_144;
/** An address on the web is found by strangers. */
const MOST_KEPT = 100;

/** Takes requests in from now on, and answers each with 200. */
export async function listen({ host, port }: { host: string; port: number }): Promise<Listener> {
	const received: Received[] = [];
	let count = 0;
	let look: () => void = () => undefined;
	const server = http.createServer((request, response) => {
		void takeIn(request)
			.then((taken) => {
				response.setHeader('content-type', 'application/json');
				// Not before it is answered: the command may end at once, and the service would send it again.
				response.end('{}', () => {
					// A request without a body only looks whether the address is there.
					if (!taken || taken.text === '') return;
					count++;
					if (received.length < MOST_KEPT) received.push(taken);
					look();
				});
			})
			.catch(() => request.destroy());
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, resolve);
	});
	const address = server.address();
	return {
		port: typeof address === 'object' && address !== null ? address.port : port,
		first: async ({ isAwaited, onOther, enough }) => {
			const awaited = await new Promise<Received | undefined>((resolve) => {
				look = () => {
					const found = received.find(isAwaited);
					if (found) resolve(found);
					else if (count > 0) onOther();
				};
				look();
				enough.addEventListener('abort', () => resolve(undefined));
				if (enough.aborted) resolve(undefined);
			});
			const notice = awaited ?? received.find(({ body }) => isJsonObject(body));
			return { notice, others: notice ? count - 1 : count };
		},
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** Rejects if the body is larger than any notice, or cannot be unpacked. */
async function takeIn(request: http.IncomingMessage): Promise<Received> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of request) {
		if (!Buffer.isBuffer(chunk)) continue;
		size += chunk.length;
		if (size > LARGEST_NOTICE) throw new Error('The body is too large');
		chunks.push(chunk);
	}
	const { headers, method = '', url = '' } = request;
	const bytes = unpack(Buffer.concat(chunks), headers['content-encoding']);
	const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
	const contentType = headers['content-type'] ?? '';
	const json = parseJson(text);
	const body = await parse(bytes, json, contentType);
	return {
		method,
		contentType: contentType.split(';', 1).join('').trim(),
		headers: Object.keys(headers),
		query: [...new URL(url, 'http://listener.test').searchParams.keys()],
		body,
		content: json ?? body,
		text,
	};
}

/** The encodings that n8n unpacks. */
function unpack(bytes: Buffer, encoding: string | undefined): Buffer {
	if (bytes.length === 0) return bytes;
	const bound = { maxOutputLength: LARGEST_NOTICE };
	if (encoding === 'gzip') return gunzipSync(bytes, bound);
	return encoding === 'deflate' ? inflateSync(bytes, bound) : bytes;
}

/** As n8n hands a body to the trigger: a form as one, whatever it holds. */
async function parse(bytes: Buffer, json: unknown, contentType: string): Promise<unknown> {
	if (contentType.startsWith('multipart/')) {
		const headers = { 'content-type': contentType };
		const message = new Response(new Uint8Array(bytes), { headers });
		const form = await message.formData().catch(() => undefined);
		return form && { data: Object.fromEntries(form) };
	}
	return contentType.includes('x-www-form-urlencoded')
		? { ...parseForm(bytes.toString('utf8')) }
		: json;
}

/** Undefined if it is not JSON. */
function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Fields whose values are words of the service, not of a person. */
const SPOKEN = /^(event|status|payment_status|method|payment_method|type)$/;
const DEEPEST = 12;

/** The names and kinds of a body, without its values. */
export function shapeOf(value: unknown, shown: Shown, name = '', depth = 0): unknown {
	if (depth === DEEPEST) return '...';
	if (Array.isArray(value))
		return value.slice(0, 1).map((entry) => shapeOf(entry, shown, name, depth + 1));
	if (isJsonObject(value)) {
		return Object.fromEntries(
			Object.entries(value).map(([key, entry]) => [
				shown(key),
				shapeOf(entry, shown, key, depth + 1),
			]),
		);
	}
	const isSpoken = SPOKEN.test(name) && typeof value === 'string';
	return isSpoken ? `a text: ${shown(value)}` : kindOf(value);
}
