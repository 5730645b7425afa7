import { catalogPages } from '../../../nodes/DigitalSales/api/catalog';
import type { NodeOutcome } from '../../helpers/engine';
import { errorIn } from '../../helpers/account';
import {
	type Ask,
	customers,
	errorOf,
	OWN_CUSTOMER,
	RETRY_ON_FAIL,
	otherProcess,
	useShop,
} from '../../helpers/charging';

const RETRY = 'use Retry under Executions';
const CURRENT = 'use Retry with currently saved workflow under Executions';
const NEW_EXECUTION =
	'A new execution would create again the successful items that had no Order Reference, so';
const CALLED_AGAIN =
	'creates again everything that had no Order Reference when it was created. First remove from its input the items that this and other calls created.';
const WRONG_CPF = { customerDocument: '={{ $json.n === 2 ? "1" : $json.document }}' };

/** A person who follows the advice charges nobody twice. */
describe('The advice in the error of a failed charge', () => {
	afterEach(() => jest.restoreAllMocks());
	const shop = useShop();

	/** Charges three customers. The third is refused. */
	const thirdRefused = async (ask: Ask = {}): Promise<NodeOutcome> => {
		shop.fault('refuse', 2);
		return await shop.ask({ more: OWN_CUSTOMER, items: customers(3), ...ask });
	};

	test.each(['trigger', 'webhook', 'manual', 'chat'] as const)(
		'is to use n8n’s Retry if the execution can have one (mode %s)',
		async (mode) => {
			const error = errorOf(await thirdRefused({ mode }));

			expect(error).toContain(
				`${NEW_EXECUTION} ${RETRY}, which sends the items as they were, or remove those items from the input.`,
			);
			expect(error).toContain(`Correct what the platform rejected, then ${CURRENT}.`);
		},
	);

	describe('in a sub-workflow is to call it again, but without the created items:', () => {
		const mode = 'integrated';
		const code = async () => await shop.ask({ mode, more: OWN_CUSTOMER, items: customers(1) });

		test.each<[string, () => Promise<NodeOutcome>]>([
			['after some items were charged', async () => await thirdRefused({ mode })],
			[
				'after no item of this call was charged',
				async () => {
					shop.fault('refuse');
					return await code();
				},
			],
			[
				'after a mistake in the form',
				async () => await shop.ask({ mode, more: { customerDocument: '1' } }),
			],
			[
				'after an unknown outcome',
				async () => {
					shop.fault('loseAnswer');
					return await code();
				},
			],
			[
				'after a refusal',
				async () => {
					shop.fault('loseAnswer');
					await code();
					return await code();
				},
			],
		])('%s', async (_what, run) => {
			const error = errorOf(await run());

			expect(error).toContain(CALLED_AGAIN);
			expect(error).not.toContain(RETRY);
			expect(error).not.toMatch(/run this again/i);
		});
	});

	test('is to run only the failed item again under On Error: Continue', async () => {
		const first = await thirdRefused({ continueOnFail: true });
		shop.fault('loseAnswer');
		await shop.ask({ more: OWN_CUSTOMER, items: customers(4).slice(3), continueOnFail: true });
		const again = await shop.ask({
			more: OWN_CUSTOMER,
			items: customers(4).slice(3),
			continueOnFail: true,
		});

		for (const json of [first.json[2], again.json[0]]) {
			const { advice } = errorIn(json);
			expect(advice).toContain('run this item again, without the others');
			expect(advice).not.toMatch(/run this again|Retry/i);
		}
	});

	test('in a Retry is to use Retry again', async () => {
		shop.fault('loseAnswer', 1);
		const first = await shop.ask({ more: OWN_CUSTOMER, items: customers(2) });
		const retry = await shop.ask({ retrying: first, more: OWN_CUSTOMER, ...otherProcess() });

		expect(shop.charges).toBe(2);
		expect(errorOf(retry)).toContain(`${NEW_EXECUTION} ${RETRY}`);
		expect(errorOf(retry)).toMatch(
			/3\. It is not there, .* with an empty Hash; then use Retry with currently saved/,
		);
	});

	describe('says that an earlier attempt may have succeeded:', () => {
		const MAY = 'but an earlier attempt of this execution may have succeeded';

		const UNSENT = 'This item was not sent now';

		test.each<[string, Ask]>([
			['a mistake in the form', { more: { ...OWN_CUSTOMER, customerDocument: '1' } }],
			[
				'a credential that cannot be used',
				{ credentials: { digitalSalesApi: { baseUrl: 'x x', apiToken: 't' } } },
			],
			[
				'a notification URL that is not a web address',
				{ more: { ...OWN_CUSTOMER, webhooksGoTo: 'url', notificationUrl: 'ftp://x' } },
			],
		])('in a Retry with %s', async (_what, ask) => {
			const first = await thirdRefused();
			const stopped = await shop.ask({ retrying: first, ...ask });
			const continued = await shop.ask({ retrying: first, ...ask, continueOnFail: true });

			expect(errorOf(stopped)).toContain(`${UNSENT}, ${MAY}.`);
			expect(errorIn(continued.json[0]).outcome).toBe('unknown');
			expect(errorIn(continued.json[0]).advice).toContain(MAY);
			expect(shop.charges).toBe(2);
		});

		test('in the second try of Retry On Fail', async () => {
			const offerHash = shop.account.sandbox.products[0]?.offers[0]?.hash;
			shop.fault('refuse', 1);
			shop.account.fault('list', { kind: 'status', status: 500, after: 1 }, 'always');
			jest.spyOn(catalogPages, 'get').mockReturnValue(undefined);
			const run = await shop.ask({
				settings: { ...RETRY_ON_FAIL, maxTries: 2 },
				items: customers(2),
				more: { ...OWN_CUSTOMER, cart: { items: [{ offerHash, price: '' }] } },
			});

			expect(errorOf(run)).toContain(`${UNSENT}, ${MAY}.`);
			expect(shop.charges).toBe(1);
		});
	});

	test('for a list that an earlier execution charged in part is to leave those items out, except in its Retry', async () => {
		const list = { more: OWN_CUSTOMER, items: customers(3) };
		shop.fault('loseAnswer', 1);
		const failed = await shop.ask(list);
		const told = 'If an earlier execution charged other items of this list, leave them out';

		expect(errorOf(await shop.ask(list))).toContain(told);
		expect(errorOf(await shop.ask({ ...list, retrying: failed }))).not.toContain(told);
	});

	test('after a mistake in the form says that the item was not sent, and no item was', async () => {
		const run = await shop.ask({ more: { ...OWN_CUSTOMER, ...WRONG_CPF }, items: customers(4) });

		expect(errorOf(run)).toContain('This item was not sent.');
		expect(shop.posts).toBe(0);
	});

	test('gives the time of an attempt in Brasília, and the same cases in the first error as in the next', async () => {
		shop.fault('loseAnswer');
		const first = errorOf(await shop.ask({ order: 'order-1' }));
		const second = errorOf(await shop.ask({ order: 'order-1' }));
		const cases = `Look for it on your platform in a few minutes.
1. It is there: Options > Charges in Doubt > Add Decision, Order or Customer order-1, Hash: its hash; then run this again.
2. It is there, but shows no hash: do not charge again; send that PIX from your platform, or ask it for the hash.
3. It is not there, or it failed or expired: the same decision with an empty Hash; then run this again.`;

		expect(first).toContain(cases);
		expect(second).toContain(cases);
		expect(second).toMatch(
			/on \d\d\/\d\d\/\d{4}, \d\d:\d\d \(Brasília time\) got no usable answer/,
		);
	});
});
