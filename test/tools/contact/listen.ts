import http from 'node:http';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { kindOf } from './documented';
import { parseJson } from './service';

/** A notice that came in. */
export interface Received {
	method: string;
	contentType: string;
	/** The names of its headers. */
	headers: string[];
	/** Undefined if it is neither JSON nor a form. */
	body: unknown;
}

export interface Listener {
	port: number;
	/** The first notice; undefined if none comes until it is enough. */
	first(enough: AbortSignal): Promise<Received | undefined>;
	close(): Promise<void>;
}

const LARGEST_NOTICE = 262_144;

/** Waits for one notice; whatever comes later is answered and dropped. */
export async function listen({ host, port }: { host: string; port: number }): Promise<Listener> {
	let take: (notice: Received) => void = () => undefined;
	const taken = new Promise<Received>((resolve) => (take = resolve));
	const server = http.createServer((request, response) => {
		let text = '';
		request.setEncoding('utf8');
		request.on('data', (chunk: string) => {
			text += chunk;
			if (text.length > LARGEST_NOTICE) request.destroy();
		});
		request.on('end', () => {
			response.setHeader('content-type', 'application/json');
			// Who looks whether the address is there sends no notice.
			if (text === '') return void response.end();
			const contentType = request.headers['content-type'] ?? '';
			const body = parse(text, contentType);
			const notice = {
				method: request.method ?? '',
				contentType,
				headers: Object.keys(request.headers),
				body,
			};
			// Not before it is answered: the command may end at once, and the service would send it again.
			response.end('{}', () => take(notice));
		});
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, resolve);
	});
	const address = server.address();
	return {
		port: typeof address === 'object' && address !== null ? address.port : port,
		first: async (enough) =>
			await Promise.race([
				taken,
				new Promise<undefined>((resolve) => {
					enough.addEventListener('abort', () => resolve(undefined));
				}),
			]),
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** As n8n hands a body to the trigger. */
function parse(text: string, contentType: string): unknown {
	if (contentType.includes('x-www-form-urlencoded')) {
		return Object.fromEntries(new URLSearchParams(text));
	}
	return parseJson(text);
}

/** Fields whose values are words of the service, not of a person. */
const SPOKEN = /^(event|status|payment_status|method|payment_method|type)$/;
const DEEPEST = 12;

/** The names and kinds of a body, without its values. */
export function shapeOf(value: unknown, name = '', depth = 0): unknown {
	if (depth === DEEPEST) return '...';
	if (Array.isArray(value))
		return value.slice(0, 1).map((entry) => shapeOf(entry, name, depth + 1));
	if (isJsonObject(value)) {
		return Object.fromEntries(
			Object.entries(value).map(([key, entry]) => [key, shapeOf(entry, key, depth + 1)]),
		);
	}
	const isSpoken = SPOKEN.test(name) && typeof value === 'string' && /^[a-z_-]{1,30}$/.test(value);
	return isSpoken ? `a text: ${value}` : kindOf(value);
}
