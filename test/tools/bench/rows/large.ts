import { inTurn, checkSame, type Bench, type Side } from '../bench';
import { type GroupOutcome, type Line, type Outcome, type Sample, sampleOf } from '../outcome';
import { collectGarbage, memoryMb, resetPeak, WITH_MEMORY_PROBE, youngMb } from '../process';
import {
	bodyOfFloor,
	byPageNumber,
	FLOOR,
	httpRequest,
	listProducts,
	splitOut,
} from '../workflows';

const SIZES = [5_000, 10_000, 25_000, 50_000];
const LARGEST = 50_000;
const PAGE_SIZE = 100;
const WARM_UP = 300;
const ROUNDS = { warmUps: 1, counted: 3 };
const FRESH_STARTS = 3;
const WHAT_IT_HOLDS =
	'a heap snapshot at the end of one such run (taken by hand on 2026-11-22) has each of the 50,000 products and 100,000 offers once; that of the peer has each product twice, since Split Out copies it.';
const WHY_MORE =
	"both sides hold the same for most of it. By V8's own counts of one run, taken by hand on 2026-11-22, the products and their items take 68 MB at the peak on either side, and the space for new objects, which grows with what survives in it, 116 MB on ours and 107 MB on theirs (the next row has today's). The space for large objects has grown by 10 MB (theirs by 1), what V8 counts outside of its heap by 15 MB on either side; V8 does not count the rest.";
const PEER = `HTTP Request by page number, ${PAGE_SIZE} a page + Split Out`;

/** Catalogs of thousands from a server that answers at once: what the sides themselves cost. */
export async function large(bench: Bench): Promise<GroupOutcome> {
	for (const size of [WARM_UP, ...SIZES]) bench.lean.prepare(size, [PAGE_SIZE]);
	const sides = new Map<number, Side[]>();
	for (const size of [WARM_UP, ...SIZES]) sides.set(size, await sidesFor(bench, size));
	const of = (size: number): Side[] => sides.get(size) ?? [];

	await checkSame(of(5_000), 5_000);
	const anyAccount = { baseUrl: bench.lean.baseUrl(0), apiToken: bench.lean.apiToken };
	const floor = await bench.side(await bench.account(anyAccount), FLOOR);
	const times = new Map<number, Sample[]>();
	for (const size of SIZES) {
		const rounds = { ...ROUNDS, warmUps: size === SIZES[0] ? ROUNDS.warmUps : 0 };
		const body = bodyOfFloor(size);
		const runs = await inTurn([...of(size), floor], rounds, async (side) => {
			return (await side.run(side === floor ? body : undefined)).ms;
		});
		times.set(size, runs.map(sampleOf));
	}
	const memory = new Map<number, Sample[]>();
	const young = new Map<number, Sample[]>();
	const atRest: number[] = [];
	for (const size of SIZES) {
		const rounds = { warmUps: 0, counted: size === LARGEST ? FRESH_STARTS : 1 };
		const runs = await inTurn([0, 1], rounds, async (place) => {
			const [warmUp, side] = [of(WARM_UP)[place], of(size)[place]];
			if (!warmUp || !side) throw new Error('A side is missing.');
			await bench.restart(warmUp.url, WITH_MEMORY_PROBE);
			await warmUp.run();
			// What the start has left would hide what a run needs, until it happens to be cleared away.
			await collectGarbage(bench.pid);
			resetPeak(bench.pid);
			const { now } = memoryMb(bench.pid);
			atRest.push(now);
			await side.run();
			return { peak: memoryMb(bench.pid).peak - now, young: await youngMb(bench.pid) };
		});
		const samplesOf = (of: 'peak' | 'young'): Sample[] =>
			runs.map((figures) => sampleOf(figures.map((one) => one[of])));
		memory.set(size, samplesOf('peak'));
		if (size === LARGEST) young.set(size, samplesOf('young'));
	}
	const { median: base } = sampleOf(atRest);
	return {
		outcomes: [
			...rowsOf('time', 'ms', times, { bound: 0.5 }),
			...rowsOf('memory', 'MB', memory, {
				bound: 0.8,
				note: WHAT_IT_HOLDS,
				missedBecause: WHY_MORE,
			}),
			...rowsOf("memory, V8's space for new objects alone", 'MB', young),
		],
		plots: [
			{
				name: 'time-by-size',
				title: 'Listing a catalog: time',
				xLabel: 'products',
				yLabel: 'seconds',
				lines: linesOf(times, 1 / 1_000),
			},
			{
				name: 'memory-by-size',
				title: "Listing a catalog: memory on top of n8n's own, at its peak",
				xLabel: 'products',
				yLabel: 'MB',
				lines: linesOf(memory, 1),
			},
		],
		method: `A lean server sends pages that are ready as bytes, without delay, ${PAGE_SIZE} products each to both sides. n8n itself is a node that hands on as many items, which come in with the start. Memory is what the process of n8n has at the peak of the run (VmHWM), each time in an n8n that was started for it and has listed ${WARM_UP} products the same way and has been made to clear away what is no longer used, on top of what it has just before that (${Math.round(base)} MB, the median).`,
	};
}

async function sidesFor(bench: Bench, products: number): Promise<Side[]> {
	const { lean } = bench;
	const baseUrl = lean.baseUrl(products);
	const account = await bench.account({ baseUrl, apiToken: lean.apiToken });
	const url = `${baseUrl}/products`;
	return [
		await bench.side(account, [listProducts({ requestLimit: 1_000_000 })]),
		await bench.side(account, [
			httpRequest(account.bearer, url, byPageNumber(PAGE_SIZE)),
			splitOut('data'),
		]),
	];
}

function rowsOf(
	what: string,
	unit: string,
	samples: ReadonlyMap<number, Sample[]>,
	goal?: { bound: number; note?: string; missedBecause?: string },
): Outcome[] {
	return [...samples].flatMap(([size, [ours, peer, floor]]) =>
		ours && peer
			? [
					{
						what: `${size.toLocaleString('en-US')} products: ${what}`,
						unit,
						ours,
						peer: { name: PEER, figures: peer },
						floor,
						...(goal &&
							size === LARGEST && {
								goal: {
									of: 'ratio',
									bound: 'atMost',
									value: goal.bound,
									missedBecause: goal.missedBecause,
								} as const,
								notes:
									goal.note === undefined
										? []
										: [`${size.toLocaleString('en-US')} products, ${what}: ${goal.note}`],
							}),
					},
				]
			: [],
	);
}

function linesOf(samples: ReadonlyMap<number, Sample[]>, scale: number): Line[] {
	return ['Digital Sales', 'HTTP Request + Split Out'].map((label, side) => ({
		label,
		points: [...samples].map(([size, sides]) => [size, (sides[side]?.median ?? NaN) * scale]),
	}));
}
