import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { inTurn, type Bench, type Side } from '../bench';
import { type GroupOutcome, type Outcome, sampleOf } from '../outcome';
import { byNextUrl, httpRequest, listProducts, splitOut } from '../workflows';

const PRODUCTS = 2_100;
const LIMIT = 20;
const WINDOW_SECONDS = 60;
const INTERVAL_MS = (WINDOW_SECONDS * 1_000) / LIMIT;
const DEFAULT_PAGE_SIZE = 30;
const ROUNDS = { warmUps: 0, counted: 1 };

interface Round {
	ms: number;
	requests: number;
	/** How many of them were answered 429. */
	refused: number;
}

/** The catalog under 20 requests a minute. */
export async function limit(bench: Bench): Promise<GroupOutcome> {
	const small = await openAccount(bench, DEFAULT_PAGE_SIZE);
	const peer = async (intervalMs: number): Promise<Side> =>
		await bench.side(small.account, [
			httpRequest(small.account.bearer, `${small.account.baseUrl}/products`, byNextUrl(intervalMs)),
			splitOut('data'),
		]);
	const [own = [], paced = []] = await inTurn(
		[small.ours, await peer(INTERVAL_MS)],
		ROUNDS,
		small.measure,
	);
	const unpaced = await small.alone(async () => await (await peer(0)).attempt());
	const large = await openAccount(bench, 100);
	const [fewer = []] = await inTurn([large.ours], ROUNDS, large.measure);
	return {
		outcomes: [
			againstTheLimit(DEFAULT_PAGE_SIZE, own),
			againstTheLimit(100, fewer),
			{
				what: whatOf(DEFAULT_PAGE_SIZE),
				unit: 'ms',
				ours: sampleOf(own.map(({ ms }) => ms)),
				peer: {
					name: `HTTP Request by next URL, ${INTERVAL_MS} ms between pages + Split Out`,
					figures: sampleOf(paced.map(({ ms }) => ms)),
				},
				notes: [
					`HTTP Request with its interval set: ${countsOf(paced)}.`,
					`HTTP Request with no interval: ${fateOf(unpaced)}`,
				],
			},
		],
		method: `A sandbox allows ${LIMIT} requests a minute. What the limit itself allows: a burst of ${LIMIT} at once, and a whole window before each further ${LIMIT}. HTTP Request knows no limit, so its user has to set the interval between pages: ${INTERVAL_MS} ms fit.`,
	};
}

/** An account with a catalog of its own; each of its runs begins with a fresh window. */
async function openAccount(bench: Bench, granted: number) {
	const sandbox = await bench.sandbox({
		products: PRODUCTS,
		maxPageSize: granted,
		requestsPerMinute: LIMIT,
		rateLimitWindow: 'sliding',
	});
	const account = await bench.account(sandbox);
	const alone = async <T>(run: () => Promise<T>): Promise<T> => {
		await pause((WINDOW_SECONDS + 0.2) * 1_000);
		sandbox.reset();
		return await run();
	};
	return {
		account,
		ours: await bench.side(account, [listProducts()]),
		alone,
		measure: async (side: Side): Promise<Round> =>
			await alone(async () => {
				const { ms } = await side.run();
				const refused = sandbox.requests.filter(({ status }) => status === 429).length;
				return { ms, requests: sandbox.requests.length, refused };
			}),
	};
}

function whatOf(granted: number): string {
	return `${PRODUCTS.toLocaleString('en-US')} products, up to ${granted} a page`;
}

function againstTheLimit(granted: number, rounds: readonly Round[]): Outcome {
	const requests = rounds[0]?.requests ?? 0;
	const allowedMs = Math.floor((requests - 1) / LIMIT) * WINDOW_SECONDS * 1_000;
	return {
		what: whatOf(granted),
		unit: 'ms',
		ours: sampleOf(rounds.map(({ ms }) => ms)),
		peer: { name: 'what the limit allows', figures: sampleOf([allowedMs]) },
		goal: { of: 'ratio', bound: 'atMost', value: 1.05 },
		notes: [`Ours, up to ${granted} a page: ${countsOf(rounds)}.`],
	};
}

function countsOf(rounds: readonly Round[]): string {
	const refused = rounds.reduce((sum, round) => sum + round.refused, 0);
	return `${rounds[0]?.requests} requests a run, ${refused} refused (429) in all runs together`;
}

/** What becomes of a list that runs into the limit, in words. */
function fateOf({ status, text }: { status: number; text: string }): string {
	const json: unknown = JSON.parse(text);
	if (status !== 200)
		return `the execution fails: ${z.object({ message: z.string() }).parse(json).message}`;
	const items = z.array(z.record(z.unknown())).parse(json);
	const products = items.filter((item) => typeof item.hash === 'string').length;
	const missing = PRODUCTS - products;
	return missing === 0
		? 'all products are there.'
		: `the execution succeeds with ${products} products, and nothing says that ${missing.toLocaleString('en-US')} are missing: the answer 429 has no next URL, which ends the list.`;
}
