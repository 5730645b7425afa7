import * as fc from 'fast-check';
import { sequences } from '../../helpers/extent';
import { NodeProcess } from '../../helpers/engine';
import { useShop } from '../../helpers/charging';
import { Promises, type Sale, type Step } from '../../helpers/promises';

const STEPS = Number(process.env.MODEL_STEPS ?? 12);
const RUNS = sequences(1, 100);

const sale = fc.record({
	customer: fc.constantFrom(1, 1, 2),
	reais: fc.constantFrom(10, 10, 20),
	seat: fc.constantFrom(0, 0, 1),
	order: fc.constantFrom(undefined, 'a', 'b'),
});
/** An expression gives all items of a list a reference, or none. */
const list = fc
	.tuple(fc.array(sale, { minLength: 1, maxLength: 3 }), fc.boolean())
	.map(([sales, hasOrders]): Sale[] =>
		sales.map((one) => ({ ...one, order: hasOrders ? (one.order ?? 'c') : undefined })),
	)
	// Two items of one order that differ are refused before anything is looked at.
	.filter((sales) =>
		sales.every(
			({ order }, nth) =>
				order === undefined || sales.findIndex((one) => one.order === order) === nth,
		),
	);
const worker = fc.constantFrom(0, 0, 1);
const nth = fc.nat(9);
const continues = fc.boolean();

const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), list, worker, continues }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('race' as const), list }) },
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant('retry' as const),
			...{ nth, worker, continues },
			isCrash: fc.constantFrom(false, false, true),
			change: fc.constantFrom(
				undefined,
				undefined,
				undefined,
				'add references',
				'raise prices' as const,
			),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const), worker }) },
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant('status' as const),
			nth,
			status: fc.constantFrom('expired', 'expired', 'canceled', 'paid' as const),
		}),
	},
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant('fault' as const),
			kind: fc.constantFrom(
				'loseAnswer',
				'loseAnswer',
				'loseRequest',
				'refuse',
				'limit',
				'void' as const,
			),
			after: fc.nat(1),
		}),
	},
	{ weight: 5, arbitrary: fc.record({ do: fc.constant('obey' as const), worker }) },
	{ weight: 1, arbitrary: fc.constant({ do: 'tomorrow' as const }) },
);

describe('Any sequence of people, workers, restarts, crashes, lost answers, void charges and decisions', () => {
	const shop = useShop();
	afterEach(() => jest.restoreAllMocks());

	test('keeps the four promises', async () => {
		const workers = [NodeProcess.fresh(), NodeProcess.fresh()];
		const keepsThem = fc.asyncProperty(
			fc.array(step, { minLength: 3, maxLength: STEPS }),
			async (steps) => {
				jest.restoreAllMocks();
				shop.account.reset();
				shop.begin();
				const promises = new Promises(shop, workers);
				for (const one of steps) await promises.take(one);
			},
		);
		await fc.assert(keepsThem, { numRuns: RUNS });
	}, 36_000_000);
});
