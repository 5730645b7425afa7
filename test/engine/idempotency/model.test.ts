import * as fc from 'fast-check';
import type { IRunExecutionData } from 'n8n-workflow';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { sequences } from '../../helpers/extent';
import { cpf } from '../../helpers/charge';
import type { NodeOutcome } from '../../helpers/engine';
import { type Ask, codeIn, errorOf, retryable, useShop, VOID } from '../../helpers/charging';

const [ORDER, OTHER] = ['order-1', '__proto__'] as const;

/** A request. Some requests have no reference. */
interface Wish {
	order?: string;
	customer: number;
	amount: number;
}

/** A refusal that shows a code. */
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
			kind: fc.constantFrom(
				'loseAnswer',
				'loseAnswer',
				'loseRequest',
				'refuse',
				'void',
				'gone' as const,
			),
		}),
	},
);

const STEPS = Number(process.env.MODEL_STEPS ?? 10);
const RUNS = sequences(4);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Shop = ReturnType<typeof useShop>;

describe('Any sequence of orders, answers, restarts, Retries, codes and other amounts', () => {
	const shop = useShop();

	test('charges an order once, and each refusal is true and leaves a way out', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: STEPS }), async (steps) => {
				shop.account.reset();
				shop.begin();
				const model = new ShopModel(shop);
				for (const one of steps) {
					await model.take(one);
					model.expectEachOrderChargedOnce();
				}
			}),
			{ numRuns: RUNS },
		);
	}, 120_000);
});

/** Knows the requests and charges, and checks every answer against them. */
class ShopModel {
	/** Every request, and the hash of the transaction that was made. */
	private readonly posted: Array<{ wish: Wish; hash?: string; isAnswered: boolean }> = [];
	/** By hash: the order that was given a transaction made without a reference. */
	private readonly ordersGiven = new Map<unknown, string>();
	private readonly executions: Array<{ wish: Wish; data: IRunExecutionData }> = [];
	/** The latest refusal that shows a code. */
	private refused: Refused | undefined;
	private isCoded = false;
	/** Whether nothing was forgotten, lost or allowed by a code so far, and no Retry was for another order. */
	private isPlain = true;

	constructor(private readonly shop: Shop) {}

	async take(one: Step): Promise<void> {
		const { shop, executions } = this;
		if (one.do === 'ask') await this.run(one.wish);
		else if (one.do === 'restart') this.restart();
		else if (one.do === 'status') await this.changeStatus(one.nth, one.status);
		else if (one.do === 'useCode') await this.useCode();
		else if (one.do === 'fault') {
			if (one.kind === 'gone') this.loseNextRead();
			else shop.fault(one.kind);
		} else {
			const index = one.do === 'retry' ? one.nth % Math.max(1, executions.length) : -1;
			const execution = executions.at(index);
			if (!execution) return;
			const wish = one.do === 'retry' ? one.wish : execution.wish;
			// The charge may replace a void charge of the first order, which then needs a code.
			if (wish.order !== execution.wish.order) this.isPlain = false;
			await this.run(wish, { retryOf: execution.data });
		}
	}

	expectEachOrderChargedOnce(): void {
		for (const order of [ORDER, OTHER]) {
			const live = this.posted.filter(
				({ wish, hash }) => wish.order === order && this.isLive(hash),
			);
			expect(live.length).toBeLessThanOrEqual(1);
		}
	}

	private restart(): void {
		clearProcessState();
		this.isPlain = false;
	}

	private loseNextRead(): void {
		this.isPlain = false;
		this.shop.account.fault('read', { kind: 'status', status: 404 });
	}

	private async changeStatus(nth: number, status: string): Promise<void> {
		const { hashes, account } = this.shop;
		const hash = hashes[nth % Math.max(1, hashes.length)];
		if (hash && this.isLive(hash)) await account.sandbox.setStatus(hash, status);
	}

	/** Enters the code of the latest refusal, unless a charge is found for it. */
	private async useCode(): Promise<void> {
		let refusal = '';
		// The answer to a code may report a charge that the refusal before did not know of. The next code is for all.
		for (let round = 0; round < 3 && this.refused; round++) {
			const { wish, code, text }: Refused = this.refused;
			this.refused = undefined;
			refusal = '';
			// Only several charges in doubt take a third code.
			expect(round === 2 ? text : 'Also: ').toContain('Also: ');
			if (this.isFound(text, wish)) break;
			this.shop.account.sandbox.clearFaults();
			const { posts } = this.shop;
			this.isCoded = true;
			const outcome = await this.run(wish, { code });
			// The code allows exactly this charge, or the answer shows a charge that was made since.
			const isOver = this.shop.posts > posts || outcome.status === 'success';
			refusal = isOver ? '' : errorOf(outcome);
		}
		expect(refusal).not.toContain('Charge in Doubt');
	}

	private async run(wish: Wish, options: Ask = {}): Promise<NodeOutcome> {
		const { shop, posted } = this;
		const { posts, hashes } = shop;
		const same = posted.filter((one) => this.orderOf(one) === wish.order && one.hash);
		const isFree = wish.order !== undefined && !same.some(({ hash }) => this.isLive(hash));
		const inDoubt = posted.filter((one) => !one.isAnswered && this.isLive(one.hash));
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
		if (outcome.status === 'success' && wish.order !== undefined && !isSent) {
			this.ordersGiven.set(outcome.json[0]?.hash, wish.order);
		}
		this.isPlain &&= !this.isCoded && posted.every((one) => one.isAnswered);
		// Another charge may hold the slot of a Retry.
		const isOwed = this.isPlain && isFree && !options.retryOf;
		expect(isOwed && !isSent ? errorOf(outcome) : '').toBe('');
		this.executions.push({ wish, data: retryable(outcome) });
		if (outcome.status === 'success') {
			// Only the run that made a void charge returns it.
			expect(isSent || this.isLive(outcome.json[0]?.hash)).toBe(true);
		} else if (!isSent) this.expectTrueRefusal(wish, outcome);
		return outcome;
	}

	/** A refusal names only charges that were requested, and a way out. */
	private expectTrueRefusal(wish: Wish, outcome: NodeOutcome): void {
		const text = errorOf(outcome).replace(/\u00a0/g, ' ');
		const ways = text.split('\nAlso: ').map((part) => {
			const { orders, hashes, details } = claimsIn(part);
			const [[named], [hash], [about]] = [orders, hashes, details];
			const isTrue = this.posted.some(
				(one) =>
					(named === undefined || this.orderOf(one) === named) &&
					(hash === undefined || one.hash === hash) &&
					(about === undefined || aboutOf(one.wish) === about),
			);
			expect(isTrue ? '' : text).toBe('');
			// A transaction that can be paid, or the reference of another order.
			return this.isLive(hash) || named !== undefined;
		});
		const code = codeIn(outcome);
		const hasWayOut = code !== '' || ways.some(Boolean);
		expect(hasWayOut ? '' : text).toBe('');
		if (code !== '') this.refused = { wish, code, text };
	}

	/** Whether a person who looks for the charge that a refusal describes finds it. */
	private isFound(text: string, { customer }: Wish): boolean {
		const { orders, details } = claimsIn(text);
		const isOfSlot = text.includes('charged for this item, so');
		// After a restart, a refusal cannot give the details of the attempt.
		const isOfCustomer = text.includes('It was for the same customer');
		return this.posted.some(
			(one) =>
				this.isLive(one.hash) &&
				(details.includes(aboutOf(one.wish)) ||
					(one.wish.order !== undefined && orders.includes(one.wish.order)) ||
					(isOfSlot && one.wish.customer === customer) ||
					(isOfCustomer && !one.isAnswered && one.wish.customer === customer)),
		);
	}

	private orderOf({ wish, hash }: { wish: Wish; hash?: string }): string | undefined {
		return wish.order ?? this.ordersGiven.get(hash);
	}

	private isLive(hash: unknown): boolean {
		return this.shop.account.sandbox.transactions.some(
			(one) => one.hash === hash && !VOID.includes(one.payment_status),
		);
	}
}

function documentOf({ customer }: Wish): string {
	return cpf(111_444_770 + customer);
}

function inReais({ amount }: Wish): string {
	return (amount / 100).toFixed(2).replace('.', ',');
}

function aboutOf(wish: Wish): string {
	const ending = documentOf(wish).replace('-', '').slice(-4);
	return `amount R$ ${inReais(wish)}; customer document ending in ${ending}`;
}

/** What a refusal claims about the charges that may exist. */
function claimsIn(text: string) {
	const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found);
	return {
		orders: all(/order(?: reference)? "([^"]+)"/gi),
		hashes: all(/transaction (?:is )?(\w{6,})\b/g),
		details: all(/Details: .*?(amount R\$ .*? ending in \d+)/g),
	};
}
