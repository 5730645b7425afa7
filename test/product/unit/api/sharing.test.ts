import { readAccount } from '../../../../nodes/DigitalSales/api/account';
import { CatalogLookup } from '../../../../nodes/DigitalSales/api/catalog';
import { Client } from '../../../../nodes/DigitalSales/api/client';
import { listProducts } from '../../../../nodes/DigitalSales/api/products';
import { eachLimit } from '../../../../nodes/DigitalSales/shared/eachLimit';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import { VirtualTime } from '../../../support/clocks';
import { contextOf, LIMIT, MINUTE_MS, Service, simulate } from '../../../support/workers';

/** The median of several seeds is above 0.9; the luck of a single one is worth so much. */
const LEAST = 0.88;

const account = readAccount({
	baseUrl: 'https://api.example.com/v1',
	apiToken: 'test-token-of-one-account',
});

// Seconds on an idle machine.
jest.setTimeout(60_000);

describe('Workers that share nothing but an account of 20 requests a minute', () => {
	test.each([
		[1, 'right'],
		[2, 'right'],
		[2, 'none'],
		[5, 'none'],
		[10, 'right'],
		[3, 'tooShort'],
		[20, 'none'],
	] as const)(
		'finish what the limit allows: %i workers, Retry-After: %s',
		async (workers, retryAfter) => {
			const scenario = { workers, retryAfter, window: 'sliding', minutes: 120, seed: 1 } as const;

			expect((await simulate(scenario)).finished).toBeGreaterThanOrEqual(LEAST);
		},
	);

	test.each([
		[3, 'right', 10],
		[10, 'none', 30],
	] as const)(
		'keep none waiting: %i workers, Retry-After: %s',
		async (workers, retryAfter, minutes) => {
			const scenario = { workers, retryAfter, window: 'sliding', minutes: 120, seed: 1 } as const;

			const { longestMinutes, failedListings } = await simulate(scenario);

			expect(longestMinutes).toBeLessThan(minutes);
			expect(failedListings).toBeLessThanOrEqual(2);
		},
	);

	test('one alone is never refused', async () => {
		const { finished, refused } = await simulate({
			workers: 1,
			window: 'sliding',
			retryAfter: 'none',
			minutes: 60,
			seed: 1,
		});

		expect(refused).toBe(0);
		expect(finished).toBeGreaterThanOrEqual(0.98);
	});
});

describe('Charges that the service always refuses with 429', () => {
	beforeEach(clearProcessWide);

	test.each([
		[1, 'does not say how long to wait', {}, { tries: 33, waitMs: 100_000 }],
		[1, 'asks for 30 s', { 'retry-after': '30' }, { tries: 11, waitMs: 100_000 }],
		[2, 'does not say how long to wait', {}, { tries: 33, waitMs: 100_000 }],
		[2, 'asks for 30 s', { 'retry-after': '30' }, { tries: 11, waitMs: 200_000 }],
	])('do not hold up the others for long: %i, if it %s', async (refused, _, headers, most) => {
		const time = new VirtualTime(1);
		const waits: number[] = [];
		let tries = 0;
		await time.run(20 * MINUTE_MS, () => {
			const context = contextOf(async ({ body }) => {
				await time.sleep(500);
				if (!body?.includes('refused')) return { status: 200, body: { success: true } };
				tries++;
				return { status: 429, headers, body: { success: false } };
			});
			const charge = async (name: string): Promise<void> => {
				const start = time.elapsed();
				const client = new Client(context, account, {});
				const request = { endpoint: 'POST /transactions', path: '/transactions' } as const;
				await client.request({ ...request, body: { name } }, (made) => made).catch(() => undefined);
				if (name !== 'refused') waits.push(time.elapsed() - start);
			};
			for (let nth = 0; nth < refused; nth++) void charge('refused');
			for (let nth = 1; nth <= 8; nth++) {
				void time.sleep(nth * 20_000).then(async () => await charge('good'));
			}
		});

		expect(waits).toHaveLength(8);
		expect(Math.max(...waits)).toBeLessThan(most.waitMs);
		expect(tries).toBeLessThanOrEqual(refused * most.tries);
	});
});

describe('Charges under a limit that is not documented', () => {
	beforeEach(clearProcessWide);

	/** Runs lists of charges, under 20 requests a minute that nobody knows of. */
	async function charge({ runs, items, atOnce }: Record<'runs' | 'items' | 'atOnce', number>) {
		const time = new VirtualTime(1);
		const service = new Service('sliding', 'none');
		const context = contextOf(async () => {
			await time.sleep(500);
			return { ...service.answer(time.elapsed()), body: { success: true } };
		});
		const request = { endpoint: 'POST /transactions', path: '/transactions', body: {} } as const;
		let endedMs = 0;
		await time.run(60 * MINUTE_MS, () => {
			for (let run = 0; run < runs; run++) {
				const client = new Client(context, account, {});
				void eachLimit(Array.from({ length: items }), atOnce, async () => {
					await client.request(request, (made) => made);
				}).then(() => (endedMs = time.elapsed()));
			}
		});
		return { made: service.allowed.length, refused: service.refused, minutes: endedMs / MINUTE_MS };
	}

	test.each([
		{ runs: 1, items: 80, atOnce: 1 },
		{ runs: 1, items: 80, atOnce: 4 },
		{ runs: 1, items: 80, atOnce: 16 },
		{ runs: 4, items: 40, atOnce: 4 },
		{ runs: 20, items: 8, atOnce: 4 },
	])('are all made, with few requests that are refused: %j', async (load) => {
		const { made, refused, minutes } = await charge(load);

		expect(made).toBe(load.runs * load.items);
		expect(minutes).toBeLessThan(1.2 * (made / LIMIT) + 1);
		expect(refused).toBeLessThan(made);
	});
});

describe('A charge whose price is in the catalog, where the limit was reached twice', () => {
	beforeEach(clearProcessWide);

	test('gets it from any page, while a listing waits for its share', async () => {
		const time = new VirtualTime(1);
		const found: unknown[] = [];
		let mayRefuse = 0;
		const context = contextOf(async ({ qs: { page = 1 } = {} }) => {
			await time.sleep(100);
			if (mayRefuse > 0) {
				mayRefuse--;
				return { status: 429, body: { success: false } };
			}
			const offers = [{ hash: `offer${page}`, price: 1_000 * page }];
			const meta = { total: 4, per_page: 1, last_page: 4 };
			return { status: 200, body: { data: [{ hash: `p${page}`, title: 'A', offers }], meta } };
		});
		await time.run(20 * MINUTE_MS, () => {
			const listing = async (): Promise<unknown> =>
				await listProducts((signal) => new Client(context, account, { signal }), {});
			const refused = async (): Promise<void> => {
				mayRefuse = 1;
				await listing();
				await time.sleep(MINUTE_MS);
			};
			void (async () => {
				await refused();
				await refused();
				void listing();
				const lookup = new CatalogLookup(context, account);
				found.push(await lookup.offer('offer3'));
			})();
		});

		expect(found).toEqual([
			{ found: { product: expect.anything(), offer: expect.objectContaining({ price: 3_000 }) } },
		]);
	});
});
