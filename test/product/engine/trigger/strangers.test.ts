import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { useTimeLapse } from '../../../support/timeLapse';
import { serveWebhook, type HttpAnswer, type PublishedTrigger } from '../harness';
import { counts } from '../support/inbox';

const JSON_TYPE = { 'content-type': 'application/json' };
/** So many may find nothing in 20 seconds. */
const READS_AT_ONCE = 8;

describe('Digital Sales Trigger: unverified notices, whatever the service answers', () => {
	let trigger: PublishedTrigger;
	let reads: string[];
	let close = (): void => undefined;
	let services = 0;

	useTimeLapse();
	beforeEach(() => {
		reads = [];
	});
	afterEach(async () => {
		await trigger.settled();
		trigger.stopListening();
		close();
		expect(trigger.thrown).toEqual([]);
	});

	/** A service that answers each read as `listener` says, and a published trigger that asks it. */
	const serve = async (
		listener: RequestListener,
		parameters: INodeParameters = { triggerOn: ['any'] },
	): Promise<void> => {
		const server = createServer((request, response) => {
			reads.push(String(request.url).split('/').at(-1) ?? '');
			listener(request, response);
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		close = () => {
			server.closeAllConnections();
			server.close();
		};
		const { port } = server.address() as AddressInfo;
		services += 1;
		const digitalSalesApi = {
			baseUrl: `http://127.0.0.1:${port}/api/public/v1`,
			apiToken: `test-token-of-strangers-${services}`,
		};
		trigger = await serveWebhook({ credentials: { digitalSalesApi }, parameters });
	};
	const postAll = async (hashes: string[], status?: string): Promise<HttpAnswer[]> =>
		await Promise.all(hashes.map(async (hash) => await trigger.post({ hash, status })));
	const named = (name: string, count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `${name}${nth}`);
	const always =
		(status: number, body: string, headers: Record<string, string> = JSON_TYPE): RequestListener =>
		(_, response) => {
			response.writeHead(status, headers);
			response.end(body);
		};
	const paid = (hash: string): string => JSON.stringify({ hash, payment_status: 'paid' });

	test.each<[string, RequestListener]>([
		['404', always(404, '{"success":false,"message":"Not found"}')],
		['422', always(422, '{"success":false,"message":"The selected hash is invalid."}')],
		['500', always(500, '{"message":"No query results for model [Transaction]."}')],
		['data: null', always(200, '{"success":true,"data":null}')],
		['another transaction', always(200, paid('another1'))],
		['a web page under 404', always(404, '<html></html>', { 'content-type': 'text/html' })],
	])('forged notices cost few reads if it answers %s', async (_name, listener) => {
		await serve(listener);

		await postAll(named('forged', 24));

		expect(reads.length).toBeLessThanOrEqual(READS_AT_ONCE + 1);
		await clock.sleep(61_000);
		await postAll(named('later', 24));
		expect(reads.length).toBeLessThanOrEqual(2 * READS_AT_ONCE + 2);
		expect(trigger.executions).toEqual([]);
	});

	test.each<[string, RequestListener]>([
		['is unavailable', always(503, '{}')],
		['hangs up', (request) => request.socket.destroy()],
	])('where it %s, each read that finds nothing is counted', async (_name, listener) => {
		await serve(listener);

		await postAll(named('forged', 24));

		expect(reads.length).toBeGreaterThan(1);
		expect(reads.length).toBeLessThanOrEqual(2 * READS_AT_ONCE);
	});

	test('known transactions cost few reads while the service fails', async () => {
		let isDown = false;
		await serve(({ url }, response) => {
			response.writeHead(isDown ? 500 : 200, JSON_TYPE);
			response.end(isDown ? '{}' : paid(url?.split('/').at(-1) ?? ''));
		});
		const known = named('known', 30);
		await postAll(known);
		await clock.sleep(5_000);
		isDown = true;
		const before = reads.length;

		const flood = postAll(known, 'refunded');
		await clock.sleep(900);

		expect(reads.length - before).toBeGreaterThan(1);
		expect(reads.length - before).toBeLessThanOrEqual(10);
		expect(counts(await flood)).toEqual({ 503: 30 });
	});

	test('a known, paid transaction passes while slow unverified reads are in flight and queued', async () => {
		let status = 'waiting_payment';
		await serve(
			({ url }, response) => {
				const isKnown = url?.endsWith('/known1') === true;
				setTimeout(
					() => {
						response.writeHead(isKnown ? 200 : 422, JSON_TYPE);
						response.end(JSON.stringify({ hash: 'known1', payment_status: status }));
					},
					isKnown ? 0 : 1_500,
				);
			},
			{ triggerOn: ['paid'] },
		);
		await trigger.post({ hash: 'known1', status });
		await clock.sleep(5_000);
		status = 'paid';
		const flood = postAll(named('slow', 290));
		let refusedAtOnce = 0;
		for (const hash of named('more', 10)) {
			void trigger.post({ hash }).then(() => refusedAtOnce++);
		}
		await clock.sleep(300);
		// More than 256 in line.
		expect(refusedAtOnce).toBe(10);
		const startedAt = Date.now();

		const answer = await trigger.post({ hash: 'known1', status });

		expect(answer.status).toBe(200);
		expect(Date.now() - startedAt).toBeLessThan(1_000);
		expect(trigger.executions).toMatchObject([[{ json: { hash: 'known1' } }]]);
		const strangers = await flood;
		expect(counts(strangers)).toEqual({ 503: 290 });
		expect(strangers.map(({ json }) => json)).toContainEqual({
			received: false,
			reason: 'too many webhooks at once',
		});
		expect(reads.length).toBeLessThanOrEqual(30);
	});

	test('after a 429 unverified notices are rejected at once until its wait is over', async () => {
		let isLimited = true;
		await serve((_, response) => {
			response.writeHead(isLimited ? 429 : 200, { ...JSON_TYPE, 'retry-after': '30' });
			response.end(isLimited ? '{}' : paid('genuine1'));
		});
		await trigger.post({ hash: 'stranger1' });

		const answers = await postAll(named('forged', 30));

		expect(answers.map(({ json }) => json)).toEqual(
			answers.map(() => ({
				received: false,
				reason: 'the transaction cannot be verified now',
			})),
		);
		expect(reads).toEqual(['stranger1']);
		isLimited = false;
		await clock.sleep(31_000);
		expect((await trigger.post({ hash: 'genuine1' })).status).toBe(200);
	});

	test('after a 429 a known transaction does not wait for the read of a stranger', async () => {
		let isLimited = false;
		await serve(({ url }, response) => {
			const hash = url?.split('/').at(-1) ?? '';
			setTimeout(
				() => {
					response.writeHead(isLimited ? 429 : 200, { ...JSON_TYPE, 'retry-after': '1' });
					response.end(paid(hash));
				},
				hash === 'stranger1' ? 2_000 : 0,
			);
		});
		await trigger.post({ hash: 'known1' });
		isLimited = true;
		await trigger.post({ hash: 'known1', status: 'refunded' });
		await clock.sleep(10_000);
		isLimited = false;
		const stranger = trigger.post({ hash: 'stranger1' });
		await clock.sleep(100);
		const before = reads.length;
		const another = trigger.post({ hash: 'stranger2' });
		await clock.sleep(10);
		await Promise.all([trigger.post({ hash: 'known1', status: 'refunded' }), another, stranger]);

		expect(reads.slice(before, before + 2)).toEqual(['known1', 'stranger2']);
	});

	test.each([500, 503])(
		'after a minute of %i the repeats pass within 20 seconds',
		async (status) => {
			let isDown = true;
			await serve(({ url }, response) => {
				const hash = String(url).split('/').at(-1) ?? '';
				response.writeHead(isDown ? status : 200, JSON_TYPE);
				response.end(isDown ? '{}' : paid(hash));
			});
			const genuine = named('genuine', 20);
			for (let second = 0; second < 60; second += 10) {
				expect(counts(await postAll(genuine))).toEqual({ 503: 20 });
				await clock.sleep(10_000);
			}
			expect(reads.length).toBeLessThanOrEqual(50);
			isDown = false;
			await clock.sleep(20_000);

			expect(counts(await postAll(genuine))).toEqual({ 200: 20 });
			expect(trigger.executions).toHaveLength(20);
		},
	);

	describe('whose hash is spelled differently', () => {
		const HASH = 'abcdefgh';
		const VARIANTS = Array.from({ length: 64 }, (_, mask) =>
			[...HASH].map((letter, at) => (mask & (1 << at) ? letter.toUpperCase() : letter)).join(''),
		);

		test('64 variants start the workflow once and cost few reads', async () => {
			await serve(always(200, paid(HASH)));

			const answers = await postAll(VARIANTS.slice(1).concat(HASH), 'x');
			await clock.sleep(61_000);
			answers.push(...(await postAll(VARIANTS, 'paid')));

			expect(trigger.executions).toMatchObject([[{ json: { hash: HASH } }]]);
			expect(Object.keys(counts(answers))).toEqual(['200', '503']);
			expect(reads.length).toBeLessThanOrEqual(2 * READS_AT_ONCE + 4);
		});

		test('variants that the service confirms are not seen transactions', async () => {
			await serve(always(200, paid(HASH)));
			await postAll(VARIANTS.slice(1, 41));
			const before = reads.length;

			await postAll(VARIANTS.slice(1, 41));

			expect(reads.length - before).toBeLessThanOrEqual(1);
			await clock.sleep(20_000);
			expect((await trigger.post({ hash: HASH })).status).toBe(200);
		});

		test.each([
			['another case', 'ABCDEFGH'],
			['an accent', 'abcdéfgh'],
			['a letter that only looks the same', 'abcdefg\u212a'],
			['an extra letter', 'abcdefghi'],
		])('%s is another transaction', async (_name, hash) => {
			await serve(always(200, paid(hash === 'abcdefg\u212a' ? 'abcdefgk' : HASH)));

			expect((await trigger.post({ hash })).status).toBe(503);
			expect(trigger.executions).toEqual([]);
		});
	});
});
