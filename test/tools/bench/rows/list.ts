import { checkSame, inTurn, type Bench } from '../bench';
import { type Outcome, sampleOf } from '../outcome';
import { BY_NEXT_URL, byPageNumber, httpRequest, listProducts, splitOut } from '../workflows';

const LATENCY_MS = 50;
const SIZES = [
	{ products: 300, warmUps: 2, counted: 7, knowsPageSize: false },
	{ products: 3_000, warmUps: 1, counted: 3, knowsPageSize: true },
];
const DEFAULT_PAGE_SIZE = 30;
const RATIO = { of: 'ratio', bound: 'atMost', value: 0.35 } as const;
const NO_LIMIT = { requestLimit: 1_000_000 };

const NEXT_URL = 'HTTP Request by next URL + Split Out';
const PAGE_NUMBER = 'HTTP Request by page number, 100 a page + Split Out';

/**
 * Both sides list the catalog as whole products, from a service 50 ms away without a limit. HTTP Request follows
 * `links.next`, which contains no page size. If the service allows larger pages, one more row is for a user who knows
 * the name of that parameter.
 */
export async function list(bench: Bench): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (const size of SIZES) {
		for (const granted of [DEFAULT_PAGE_SIZE, 100]) {
			outcomes.push(...(await measure(bench, size, granted)));
		}
	}
	return outcomes;
}

async function measure(
	bench: Bench,
	{ products, knowsPageSize, ...rounds }: (typeof SIZES)[number],
	granted: number,
): Promise<Outcome[]> {
	const sandbox = await bench.sandbox({
		products,
		maxPageSize: granted,
		latencyMs: LATENCY_MS,
		requestsPerMinute: null,
	});
	const account = await bench.account(sandbox);
	const url = `${sandbox.baseUrl}/products`;
	const isLarge = granted > DEFAULT_PAGE_SIZE;
	const ways = isLarge && knowsPageSize ? [BY_NEXT_URL, byPageNumber(granted)] : [BY_NEXT_URL];
	const sides = [await bench.side(account, [listProducts(NO_LIMIT)])];
	for (const way of ways) {
		const nodes = [httpRequest(account.bearer, url, way), splitOut('data')];
		sides.push(await bench.side(account, nodes));
	}
	await checkSame(sides, products);
	const runs = await inTurn(sides, rounds, async (side) => {
		const before = sandbox.requests.length;
		const ms = await side.run();
		return { ms, requests: sandbox.requests.length - before };
	});
	const [ours, byUrl, byNumber] = runs.map((of) => ({
		ms: sampleOf(of.map(({ ms }) => ms)),
		requests: sampleOf(of.map(({ requests }) => requests)),
	}));
	if (!ours || !byUrl) throw new Error('A side has not run.');
	const what = `${products.toLocaleString('en-US')} products, up to ${granted} a page`;
	const time = { what, unit: 'ms', ours: ours.ms, goal: RATIO };
	const outcomes: Outcome[] = [{ ...time, peer: { name: NEXT_URL, figures: byUrl.ms } }];
	if (byNumber) outcomes.push({ ...time, peer: { name: PAGE_NUMBER, figures: byNumber.ms } });
	if (isLarge) {
		outcomes.push({
			what: `requests for ${what}`,
			unit: 'requests',
			ours: ours.requests,
			peer: { name: NEXT_URL, figures: byUrl.requests },
			goal: { of: 'ours', bound: 'atMost', value: Math.ceil(products / granted) },
		});
	}
	return outcomes;
}
