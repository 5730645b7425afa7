import { checkSame, inTurn, type Bench } from '../bench';
import { type GroupOutcome, type Outcome, sampleOf } from '../outcome';
import {
	bodyOfFloor,
	byNextUrl,
	byPageNumber,
	FLOOR,
	httpRequest,
	listProducts,
	splitOut,
} from '../workflows';

const LATENCY_MS = 50;
/** Of our node; it says how many round trips there are at least. */
const PAGES_AT_ONCE = 6;
const SIZES = [
	{ products: 300, warmUps: 2, counted: 7 },
	{ products: 3_000, warmUps: 1, counted: 3 },
];
const DEFAULT_PAGE_SIZE = 30;
const RATIO = { of: 'ratio', bound: 'atMost', value: 0.35 } as const;
const NO_LIMIT = { requestLimit: 1_000_000 };

const BY_NEXT_URL = 'HTTP Request by next URL + Split Out';
const BY_PAGE_NUMBER = 'HTTP Request by page number, 100 a page + Split Out';

/** The catalog from a service 50 ms away that has no limit. */
export async function list(bench: Bench): Promise<GroupOutcome> {
	const outcomes: Outcome[] = [];
	for (const size of SIZES) {
		for (const granted of [DEFAULT_PAGE_SIZE, 100]) {
			outcomes.push(...(await measure(bench, size, granted)));
		}
	}
	return {
		outcomes,
		method: `A sandbox answers after ${LATENCY_MS} ms. Both sides put out the same items, which is checked first. Our node runs as it comes, but for Return All, Simplify off (the peer gives whole products) and a Request Limit out of the way, since this service has none. HTTP Request follows \`links.next\` of the answers; the links carry no page size, so it takes the service's own ${DEFAULT_PAGE_SIZE} a page. Where the service grants more, there is a line for a user who has found out the name of that parameter. n8n itself is a node that hands on as many items, which come in with the start.`,
	};
}

async function measure(
	bench: Bench,
	{ products, ...rounds }: (typeof SIZES)[number],
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
	const peer = (pages: object) => [
		httpRequest(account.bearer, url, { ...pages }),
		splitOut('data'),
	];
	const sides = [
		await bench.side(account, [listProducts(NO_LIMIT)]),
		await bench.side(account, peer(byNextUrl())),
		...(granted === DEFAULT_PAGE_SIZE
			? []
			: [await bench.side(account, peer(byPageNumber(granted)))]),
	];
	await checkSame(sides, products);
	const floor = await bench.side(account, FLOOR);
	const runs = await inTurn([floor, ...sides], rounds, async (side) => {
		const before = sandbox.requests.length;
		const { ms } = await side.run(side === floor ? bodyOfFloor(products) : undefined);
		return { ms, requests: sandbox.requests.length - before };
	});
	const [nothing, ours, byUrl, byNumber] = runs.map((rounds) => ({
		ms: sampleOf(rounds.map(({ ms }) => ms)),
		requests: sampleOf(rounds.map(({ requests }) => requests)),
	}));
	if (!ours || !byUrl) throw new Error('A side has not run.');
	const what = `${products.toLocaleString('en-US')} products, up to ${granted} a page`;
	const outcomes: Outcome[] = [
		{
			what,
			unit: 'ms',
			ours: ours.ms,
			peer: { name: BY_NEXT_URL, figures: byUrl.ms },
			floor: nothing?.ms,
			goal: RATIO,
			notes: [
				`${what}: the peer waits for ${byUrl.requests.median} answers one after the other, which is ${byUrl.requests.median * LATENCY_MS} ms of waiting alone; we send ${ours.requests.median} requests.`,
			],
		},
	];
	if (byNumber) {
		const inTurns = Math.ceil((ours.requests.median - 1) / PAGES_AT_ONCE) + 1;
		outcomes.push({
			what,
			unit: 'ms',
			ours: ours.ms,
			peer: { name: BY_PAGE_NUMBER, figures: byNumber.ms },
			floor: nothing?.ms,
			...(products === 3_000 ? { goal: RATIO } : {}),
			notes: [
				`${what}, the peer told so: ${ours.requests.median} requests on both sides, in ${inTurns} round trips here and ${byNumber.requests.median} there.`,
			],
		});
		outcomes.push({
			what: `requests for ${products.toLocaleString('en-US')} products, up to ${granted} a page`,
			unit: 'requests',
			ours: ours.requests,
			peer: { name: BY_NEXT_URL, figures: byUrl.requests },
			goal: { of: 'ours', bound: 'atMost', value: Math.ceil(products / granted) },
		});
	}
	return outcomes;
}
