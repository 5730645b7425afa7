import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { useTimeLapse } from '../../../support/timeLapse';
import { withoutWaiting } from '../../../support/clocks';
import { runNode, type NodeOutcome } from '../harness';

const CATALOG = Buffer.from(
	JSON.stringify({
		data: [{ hash: 'abc123', title: 'Curso de Pão de Queijo — do zero', status: 1, offers: [] }],
		meta: { current_page: 1, last_page: 1, per_page: 30, total: 1 },
		links: { next: null },
	}),
);
const JSON_TYPE = { 'content-type': 'application/json' };

/** How a proxy in front of the service may hand an answer over; each test has a service of its own. */
describe('The body of an answer', () => {
	let server: Server;
	let requests: number;

	const serve = async (
		answer: (response: ServerResponse, nth: number) => void,
	): Promise<string> => {
		requests = 0;
		const listener: RequestListener = (_request, response) => answer(response, ++requests);
		server = createServer(listener);
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		return `http://127.0.0.1:${port}/api/public/v1`;
	};
	afterEach(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});

	const list = async (baseUrl: string, timeout = 5): Promise<NodeOutcome> =>
		await runNode(
			{ resource: 'product', operation: 'getAll', simplify: false, options: { timeout } },
			{ credentials: { digitalSalesApi: { baseUrl, apiToken: `test-token-${baseUrl}` } } },
		);
	const titles = ({ json }: NodeOutcome): unknown[] => json.map(({ title }) => title);
	const title = 'Curso de Pão de Queijo — do zero';

	test('comes compressed', async () => {
		const baseUrl = await serve((response) => {
			response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' });
			response.end(gzipSync(CATALOG));
		});
		expect(titles(await list(baseUrl))).toEqual([title]);
	});

	test('comes compressed and breaks off: it is asked for again', async () => {
		const whole = gzipSync(CATALOG);
		const restoreTime = withoutWaiting(clock);
		const baseUrl = await serve((response, nth) => {
			response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' });
			if (nth > 1) response.end(whole);
			else response.write(whole.subarray(0, 20), () => response.socket?.destroy());
		});
		expect(titles(await list(baseUrl))).toEqual([title]);
		restoreTime();
		expect(requests).toBe(2);
	});

	describe('takes its time:', () => {
		useTimeLapse();

		test('it comes in drops without end: the connection is left when the time is up', async () => {
			let left: Promise<unknown> = Promise.resolve();
			const baseUrl = await serve((response, nth) => {
				response.writeHead(200, JSON_TYPE);
				if (nth > 1) response.end(CATALOG);
				else {
					const drops = setInterval(() => response.write(' '), 50);
					left = once(response, 'close').finally(() => clearInterval(drops));
				}
			});
			expect(titles(await list(baseUrl, 1))).toEqual([title]);
			await left;
			expect(requests).toBe(2);
		});
	});

	test('is beyond all bounds: it is left, and the error says so', async () => {
		const filler = Buffer.alloc(1_048_576, ' ');
		let hungUp: () => void;
		const left = new Promise<void>((resolve) => (hungUp = resolve));
		const baseUrl = await serve((response) => {
			const more = (): void => {
				while (!response.destroyed && response.write(filler));
			};
			response.writeHead(200, JSON_TYPE);
			response.on('drain', more).on('close', hungUp);
			more();
		});
		const { node } = await list(baseUrl);
		expect(node?.error?.message).toMatch(/too large/);
		expect(node?.error?.description).toMatch(/Page Size/);
		await left;
		expect(requests).toBe(1);
	});
});
