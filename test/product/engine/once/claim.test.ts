import * as fc from 'fast-check';
import { cpf } from '../../../support/cpf';
import { NodeProcess, processedItems, type NodeOutcome, type NodeRunOptions } from '../harness';
import { customers, errorOf, OWN_CUSTOMER, useShop } from '../support/charging';

/** Milliseconds of one read or write: mostly 2 to 8, one in a hundred 20 to 80. */
const latencyOf = (random: () => number): number =>
	random() < 0.99 ? 2 + 6 * random() : 20 + 60 * random();

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
		return (state >>> 0) / 2 ** 32;
	};
}

const pause = async (ms: number): Promise<void> =>
	await new Promise((resolve) => setTimeout(resolve, ms));

describe('Several processes that ask for the same charge at the same moment', () => {
	const shop = useShop();
	const processes = [NodeProcess.fresh(), NodeProcess.fresh(), NodeProcess.fresh()];
	afterEach(() => processedItems.clear());

	const begin = async (
		process: NodeProcess | undefined,
		order: string,
		lateMs: number,
		more = {},
	): Promise<NodeOutcome> => {
		await pause(lateMs);
		return await shop.run(shop.parameters(order, more), { process });
	};
	const judge = (outcomes: NodeOutcome[]): void => {
		for (const outcome of outcomes) {
			if (outcome.status === 'success') continue;
			expect(errorOf(outcome)).toMatch(/may already have been charged|in time/);
		}
	};

	test('one charges, whatever the database takes, and none is charged twice', async () => {
		let charged = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.integer(),
				fc.array(fc.nat(12), { minLength: 2, maxLength: 3 }),
				fc.boolean(),
				async (seed, starts, isBusy) => {
					shop.account.reset();
					shop.begin();
					processedItems.clear();
					const random = randomOf(seed);
					processedItems.latency = () => latencyOf(random);
					const runs = starts.map(async (at, nth) => await begin(processes[nth], 'order-1', at));
					const others = isBusy
						? [1, 2, 3].map(
								async (n) =>
									await begin(processes[n % 3], `other ${n}`, n * 30, { customerDocument: cpf(n) }),
							)
						: [];
					const outcomes = await Promise.all(runs);
					judge(outcomes);
					const bystanders = await Promise.all(others);
					expect(bystanders.filter(({ status }) => status === 'success')).toHaveLength(
						others.length,
					);
					expect(shop.charges - others.length).toBeLessThanOrEqual(1);
					charged += shop.charges - others.length;
				},
			),
			{ numRuns: 30 },
		);
		// Hardly ever does a third process's row make all of them lose.
		expect(charged).toBeGreaterThan(25);
	});

	test('one that stalls between its read and its write has not won by that', async () => {
		for (let nth = 0; nth < 30; nth++) {
			shop.account.reset();
			shop.begin();
			processedItems.clear();
			const random = randomOf(nth);
			let calls = 0;
			const stalled = Math.floor(random() * 8);
			processedItems.latency = () => (calls++ === stalled ? 2_000 : latencyOf(random));
			const outcomes = await Promise.all(
				[0, 1].map(async (one) => await begin(processes[one], 'order-1', random() * 4)),
			);
			judge(outcomes);
			expect(shop.charges).toBeLessThanOrEqual(1);
		}
	});

	test('the pauses of one run overlap, and what is known has none', async () => {
		const input = customers(40);
		const parameters = shop.parameters('={{ "order-" + $json.n }}', {
			...OWN_CUSTOMER,
			options: { atOnce: 4 },
		});
		const startedAt = performance.now();
		const first = await shop.run(parameters, { items: input });
		const chargedIn = performance.now() - startedAt;
		const again = await shop.run(parameters, { items: input, process: processes[0] });
		const refusedIn = performance.now() - startedAt - chargedIn;

		expect(first.status).toBe('success');
		expect(chargedIn).toBeGreaterThanOrEqual(1_000);
		expect(chargedIn).toBeLessThan(1_500);
		expect(errorOf(again)).toContain('may already have been charged');
		expect(refusedIn).toBeLessThan(100);
	});

	test('what waits for the rate limit is not recorded: a crash leaves nothing in doubt', async () => {
		const endpoint = 'POST /transactions';
		const { sandbox } = shop.account;
		sandbox.addFault({ endpoint, kind: 'retryAfter', seconds: 60 });
		const stopping = new AbortController();
		const ask = async (order: number, more: NodeRunOptions = {}) =>
			await shop.run(shop.parameters(`order-${order}`, { customerDocument: cpf(1_000 + order) }), more);
		const waiting = [0, 1, 2, 3].map(async (order) => {
			await pause(order * 1_000);
			return await ask(order, { process: processes[0], signal: stopping.signal });
		});
		await pause(10_000);
		const { posts } = shop;
		// Nothing that the killed process would still write is written.
		processedItems.failAfter = 0;
		stopping.abort();
		await Promise.all(waiting);
		processedItems.clear({ keepRows: true });
		const again = await Promise.all([0, 1, 2, 3].map(async (order) => await ask(order)));

		expect(posts).toBe(1);
		expect(again.map(errorOf).join('').trim()).toBe('');
		expect(shop.charges).toBe(4);
	});
});
