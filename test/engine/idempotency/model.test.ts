import * as fc from 'fast-check';
import type { IRunExecutionData } from 'n8n-workflow';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { cpf } from '../../helpers/charge';
import type { NodeOutcome } from '../../helpers/engine';
import { type Ask, codeIn, errorOf, retryable, useShop, VOID } from '../../helpers/charging';

const [ORDER, OTHER] = ['order-1', '__proto__'] as const;

/** What is asked for; the reference is missing in some. */
interface Wish {
	order?: string;
	customer: number;
	amount: number;
}

/** A refusal as in doubt. */
interface Refused {
	wish: Wish;
	code: string;
	text: string;
}

const wish: fc.Arbitrary<Wish> = fc.record({
	order: fc.constantFrom(undefined, ORDER, ORDER, OTHER),
	customer: fc.constantFrom(1, 1, 2),
	amount: fc.constantFrom(3980, 3980, 5000),
});

const step = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), wish }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('retry' as const), nth: fc.nat(9), wish }) },
	{ weight: 2, arbitrary: fc.constant({ do: 'retryUnchanged' as const }) },
	{ weight: 3, arbitrary: fc.constant({ do: 'useCode' as const }) },
	{ weight: 2, arbitrary: fc.constant({ do: 'restart' as const }) },
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant('status' as const),
			nth: fc.nat(9),
			status: fc.constantFrom('expired', 'canceled', 'paid'),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('fault' as const),
			kind: fc.constantFrom('lose', 'lose', 'drop', 'refuse', 'void', 'gone' as const),
		}),
	},
);

/** What a refusal tells of what may exist. */
function toldIn(text: string) {
	const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found);
	return {
		orders: all(/order(?: reference)? "([^"]+)"/gi),
		hashes: all(/transaction (?:is )?(\w{6,})\b/g),
		details: all(/Details: .*?(amount R\$ .*? ending in \d+)/g),
	};
}

const STEPS = Number(process.env.MODEL_STEPS ?? 10);
const RUNS = Number(process.env.MODEL_RUNS ?? 60);

describe('Any sequence of orders, answers, restarts, Retries, codes and other amounts', () => {
	const shop = useShop();

	const documentOf = ({ customer }: Wish): string => cpf(111_444_770 + customer);
	const inReais = ({ amount }: Wish): string => (amount / 100).toFixed(2).replace('.', ',');
	const aboutOf = (wish: Wish): string =>
		`amount R$ ${inReais(wish)}; customer document ending in ${documentOf(wish).replace('-', '').slice(-4)}`;

	test('charges an order once, refuses with what is true, and leaves a way out', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: STEPS }), async (steps) => {
				shop.account.reset();
				shop.begin();
				/** Whatever was posted, and the hash of the transaction that was made. */
				const posted: Array<{ wish: Wish; hash?: string; isAnswered: boolean }> = [];
				/** By hash: the order for which something was given that was made for none. */
				const given = new Map<unknown, string>();
				const orderOf = (one: (typeof posted)[number]) => one.wish.order ?? given.get(one.hash);
				const executions: Array<{ wish: Wish; data: IRunExecutionData }> = [];
				/** The latest refusal as in doubt. */
				let refused: Refused | undefined;
				let isCoded = false;
				/** Nothing has been forgotten, lost or allowed by a code. */
				let isPlain = true;

				const isLive = (hash: unknown): boolean =>
					shop.account.sandbox.transactions.some(
						(one) => one.hash === hash && !VOID.includes(one.payment_status),
					);
				const run = async (wish: Wish, options: Ask = {}): Promise<NodeOutcome> => {
					const { posts, hashes } = shop;
					const same = posted.filter((one) => orderOf(one) === wish.order && one.hash);
					const isFree = wish.order !== undefined && !same.some((one) => isLive(one.hash));
					const inDoubt = posted.filter((one) => !one.isAnswered && isLive(one.hash));
					const isRepeated = inDoubt.some((one) => aboutOf(one.wish) === aboutOf(wish));
					const outcome = await shop.ask({
						order: wish.order,
						more: {
							customerDocument: documentOf(wish),
							additionalFields: { amount: inReais(wish) },
						},
						...options,
					});
					const made = shop.hashes.filter((hash) => !hashes.includes(hash));
					expect(made.length).toBeLessThanOrEqual(isRepeated ? 0 : 1);
					const isSent = shop.posts > posts;
					const isAnswered = outcome.status === 'success' || errorOf(outcome).includes('(422)');
					if (isSent) posted.push({ wish, hash: made[0], isAnswered });
					const [first] = outcome.json;
					if (outcome.status === 'success' && wish.order !== undefined && !isSent) {
						given.set(first?.hash, wish.order);
					}
					isPlain &&= !isCoded && posted.every((one) => one.isAnswered);
					// A Retry may be in the place of another charge.
					const isOwed = isPlain && isFree && !options.retryOf;
					expect(isOwed && !isSent ? errorOf(outcome) : '').toBe('');
					executions.push({ wish, data: retryable(outcome) });
					judge(wish, outcome, isSent);
					return outcome;
				};
				/** Whether somebody who looks for what a refusal tells finds a charge. */
				const isFound = (text: string, { customer }: Wish): boolean => {
					const { orders, details } = toldIn(text);
					const isPlace = text.includes('charged for this item, so');
					return posted.some(
						(one) =>
							isLive(one.hash) &&
							(details.includes(aboutOf(one.wish)) ||
								(one.wish.order !== undefined && orders.includes(one.wish.order)) ||
								(isPlace && one.wish.customer === customer)),
					);
				};
				const judge = (wish: Wish, outcome: NodeOutcome, isSent: boolean): void => {
					const text = errorOf(outcome).replace(/\u00a0/g, ' ');
					const isGiven = outcome.status === 'success';
					// What is void is given only by the run that made it.
					expect(!isGiven || isSent || isLive(outcome.json[0]?.hash)).toBe(true);
					if (isGiven || isSent) return;
					const ways = text.split('\nAlso: ').map((part) => {
						const { orders, hashes, details } = toldIn(part);
						const [[named], [hash], [about]] = [orders, hashes, details];
						const isTrue = posted.some(
							(one) =>
								(named === undefined || orderOf(one) === named) &&
								(hash === undefined || one.hash === hash) &&
								(about === undefined || aboutOf(one.wish) === about),
						);
						expect(isTrue ? '' : text).toBe('');
						// A transaction that can be paid, or the reference of another order.
						return isLive(hash) || named !== undefined;
					});
					const code = codeIn(outcome);
					const hasWayOut = code !== '' || ways.some(Boolean);
					expect(hasWayOut ? '' : text).toBe('');
					if (code !== '') refused = { wish, code, text };
				};

				for (const one of steps) {
					let refusal = '';
					if (one.do === 'ask') await run(one.wish);
					else if (one.do === 'restart') {
						clearProcessState();
						isPlain = false;
					} else if (one.do === 'status') {
						const hash = shop.hashes[one.nth % Math.max(1, shop.hashes.length)];
						if (hash && isLive(hash)) await shop.account.sandbox.setStatus(hash, one.status);
					} else if (one.do === 'fault') {
						if (one.kind !== 'gone') shop.fault(one.kind);
						else {
							isPlain = false;
							shop.account.fault('read', { kind: 'status', status: 404 });
						}
					} else if (one.do === 'useCode') {
						// Something that the first refusal did not know of may be told by the next.
						for (let round = 0; round < 2 && refused; round++) {
							const { wish, code, text }: Refused = refused;
							refused = undefined;
							refusal = '';
							if (isFound(text, wish)) break;
							shop.account.sandbox.clearFaults();
							const { posts } = shop;
							isCoded = true;
							const outcome = await run(wish, { code });
							// It lets that very charge pass, or shows what has come to exist meanwhile.
							const isOver = shop.posts > posts || outcome.status === 'success';
							refusal = isOver ? '' : errorOf(outcome);
						}
					} else {
						const index = one.do === 'retry' ? one.nth % Math.max(1, executions.length) : -1;
						const execution = executions.at(index);
						if (!execution) continue;
						const wish = one.do === 'retry' ? one.wish : execution.wish;
						await run(wish, { retryOf: execution.data });
					}
					expect(refusal).not.toContain('Charge in Doubt');
					for (const order of [ORDER, OTHER]) {
						const live = posted.filter((p) => p.wish.order === order && isLive(p.hash));
						expect(live.length).toBeLessThanOrEqual(1);
					}
				}
			}),
			{ numRuns: RUNS },
		);
	}, 120_000);
});
