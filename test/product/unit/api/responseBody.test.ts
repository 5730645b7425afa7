import { getEventListeners } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGunzip } from 'node:zlib';
import {
	bodyStream,
	MOST_BODY_BYTES,
	readBody,
	takeText,
} from '../../../../nodes/DigitalSales/api/response';

describe('The body of an answer', () => {
	let answer: (response: ServerResponse) => void;
	const hungUp: Array<Promise<void>> = [];
	let connections = 0;
	const server = createServer((_request, response) => {
		hungUp.push(new Promise((resolve) => response.on('close', resolve)));
		answer(response);
	}).on('connection', () => connections++);
	const agent = new Agent({ keepAlive: true });
	const never = new AbortController().signal;

	beforeAll(async () => await new Promise<void>((resolve) => server.listen(0, resolve)));
	beforeEach(() => {
		hungUp.length = 0;
		connections = 0;
	});
	afterEach(() => agent.destroy());
	afterAll(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});

	const begin = async (by: (response: ServerResponse) => void): Promise<IncomingMessage> => {
		answer = by;
		const { port } = server.address() as AddressInfo;
		return await new Promise((resolve, reject) => {
			get({ port, agent }, resolve).on('error', reject);
		});
	};
	/** Sends a piece whenever there is room, until the client hangs up. */
	const forEver = (response: ServerResponse): void => {
		const piece = Buffer.alloc(1_048_576, 'x');
		const send = (): void => {
			while (!response.destroyed && response.write(piece));
		};
		response.on('drain', send);
		send();
	};

	test('is read whole, a letter that comes in two pieces included', async () => {
		const bytes = Buffer.from('{"title":"Promoção"}');
		const cut = bytes.indexOf(0xc3) + 1;
		const body = await begin((response) => {
			response.write(bytes.subarray(0, cut));
			setTimeout(() => response.end(bytes.subarray(cut)), 20);
		});

		const chunks = (await readBody(body, never)) ?? [];

		expect(chunks.length).toBeGreaterThan(1);
		expect(takeText(chunks)).toBe('{"title":"Promoção"}');
	});

	test('may be as large as the bound, and holds no memory once its text is taken', async () => {
		const body = await begin((response) => response.end(Buffer.alloc(MOST_BODY_BYTES, 'x')));

		const chunks = (await readBody(body, never)) ?? [];

		expect(takeText(chunks)).toHaveLength(MOST_BODY_BYTES);
		expect(chunks).toEqual([]);
	});

	test('is left where it is larger, and the service is not kept sending', async () => {
		const body = await begin(forEver);

		await expect(readBody(body, never)).resolves.toBeUndefined();
		await hungUp[0];
	});

	test('is no body where it is one byte larger', async () => {
		const body = await begin((response) => response.end(Buffer.alloc(MOST_BODY_BYTES + 1)));

		await expect(readBody(body, never)).resolves.toBeUndefined();
	});

	test('that breaks off is a fault', async () => {
		const body = await begin((response) => {
			response.write('{"title":');
			setTimeout(() => response.destroy(), 20);
		});

		await expect(readBody(body, never)).rejects.toThrow();
	});

	test('that cannot be unpacked is a fault', async () => {
		const body = await begin((response) => response.end('this was never packed'));

		await expect(readBody(body.pipe(createGunzip()), never)).rejects.toThrow('incorrect header');
	});

	test('that was closed before it came is a fault', async () => {
		const body = await begin((response) => response.write('{'));
		body.destroy();

		await expect(readBody(body, never)).rejects.toThrow();
	});

	test('is left when its time is up, however much is still coming', async () => {
		const body = await begin((response) => {
			response.write('x');
			const timer = setInterval(() => response.write('x'), 5);
			response.on('close', () => clearInterval(timer));
		});

		await expect(readBody(body, AbortSignal.timeout(50))).rejects.toThrow();
		await hungUp[0];
	});

	test('is left at once where its time was up before it began', async () => {
		const body = await begin((response) => response.write('x'));

		await expect(readBody(body, AbortSignal.abort())).rejects.toThrow();
		await hungUp[0];
	});

	test('once read, leaves the connection to the next request, and nothing at the signal', async () => {
		const late = new AbortController();
		for (const text of ['first', 'second']) {
			const body = await begin((response) => response.end(text));
			expect(takeText((await readBody(body, late.signal)) ?? [])).toBe(text);
			await new Promise((resolve) => setImmediate(resolve));
		}

		expect(connections).toBe(1);
		expect(getEventListeners(late.signal, 'abort')).toEqual([]);
	});

	test('is told from what is no stream', async () => {
		const body = await begin((response) => response.end());

		expect(bodyStream.safeParse(body).success).toBe(true);
		for (const other of [undefined, null, 'text', {}, { on: 1 }, { destroy: 1 }]) {
			expect(bodyStream.safeParse(other).success).toBe(false);
		}
	});
});
