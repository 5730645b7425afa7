import http from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { parseJson } from './service';

/** A request that came in with a body. */
export interface Received {
	method: string;
	contentType: string;
	/** The names of its headers and query parameters. */
	headers: string[];
	query: string[];
	/** As n8n hands it to the trigger: undefined if it is neither JSON nor a form. */
	body: unknown;
	text: string;
}

export interface Heard {
	/** The webhook; undefined if none came. */
	notice?: Received;
	/** How many other requests came with a body. */
	others: number;
}

export interface Listener {
	port: number;
	/** The first request that is awaited, from now until it is enough. */
	first(isAwaited: (received: Received) => boolean, enough: AbortSignal): Promise<Heard>;
	close(): Promise<void>;
}

const LARGEST_NOTICE = 262_144;
/** An address on the web is found by strangers. */
const MOST_KEPT = 100;

/** Takes requests in from now on, and answers each with 200. */
export async function listen(port: number): Promise<Listener> {
	const received: Received[] = [];
	let look: () => void = () => undefined;
	const server = http.createServer((request, response) => {
		void takeIn(request)
			.then((taken) => {
				response.setHeader('content-type', 'application/json');
				// Not before it is answered: the command may end at once, and the service would send it again.
				response.end('{}', () => {
					if (taken.text !== '' && received.length < MOST_KEPT) received.push(taken);
					look();
				});
			})
			.catch(() => request.destroy());
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, '127.0.0.1', resolve);
	});
	const address = server.address();
	return {
		port: typeof address === 'object' && address !== null ? address.port : port,
		first: async (isAwaited, enough) => {
			const notice = await new Promise<Received | undefined>((resolve) => {
				look = () => {
					const found = received.find(isAwaited);
					if (found) resolve(found);
				};
				look();
				enough.addEventListener('abort', () => resolve(undefined));
				if (enough.aborted) resolve(undefined);
			});
			return { notice, others: received.length - (notice ? 1 : 0) };
		},
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** Rejects if the body is larger than any notice. */
async function takeIn(request: http.IncomingMessage): Promise<Received> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of request) {
		if (!Buffer.isBuffer(chunk)) continue;
		size += chunk.length;
		if (size > LARGEST_NOTICE) throw new Error('The body is too large');
		chunks.push(chunk);
	}
	const text = Buffer.concat(chunks).toString('utf8');
	const { headers, method = '', url = '' } = request;
	const contentType = headers['content-type']?.split(';')[0]?.trim() ?? '';
	const isForm = contentType === 'application/x-www-form-urlencoded';
	return {
		method,
		contentType,
		headers: Object.keys(headers),
		query: [...new URL(url, 'http://listener.test').searchParams.keys()],
		body: isForm ? { ...parseForm(text) } : parseJson(text),
		text,
	};
}
