import type { IDataObject } from 'n8n-workflow';
import { cpf } from './charge';
import { type Ask, errorOf, MAYBE, retryable, type Shop, VOID } from './charging';
import { crashedData, type NodeOutcome, NodeProcess } from './engine';

/** An item: who buys for how much. Two seats have one CPF, and two e-mail addresses. */
export interface Sale {
	customer: number;
	reais: number;
	seat?: number;
	/** The Order Reference. */
	order?: string;
}

export type Fault = 'loseAnswer' | 'loseRequest' | 'refuse' | 'limit' | 'void';

/** One thing that happens. Worker 0 by default; `nth` is the nth execution or transaction. */
export type Step =
	| { do: 'ask'; list: Sale[]; worker?: number; continues?: boolean }
	| {
			do: 'retry';
			nth?: number;
			worker?: number;
			continues?: boolean;
			isCrash?: boolean;
			/** What somebody changes in the form before the Retry. */
			change?: 'add references' | 'clear references' | 'raise prices';
	  }
	/** Two workers get the same list at once. */
	| { do: 'race'; list: Sale[] }
	| { do: 'restart'; worker?: number }
	| { do: 'status'; nth?: number; status: 'expired' | 'canceled' | 'paid' }
	| { do: 'fault'; kind: Fault; after?: number }
	/** A person does what the latest refusal says. */
	| { do: 'obey'; worker?: number }
	| { do: 'tomorrow' };

interface Execution {
	origin: string;
	list: Sale[];
	outcome: NodeOutcome;
}

/** What the oracle knows about a transaction. */
interface Charge {
	origin: string;
	sale: Sale;
	/** Its hash was in an output, so nobody takes it for a lost one. */
	isKnown: boolean;
}

interface Refusal {
	origin: string;
	sale: Sale;
	text: string;
	execution: Execution;
}

const DAY_MS = 86_400_000;
const FEW_MINUTES_MS = 5 * 60_000;

/** Carries out steps, and judges each by the four promises. */
export class Promises {
	readonly executions: Execution[] = [];
	/** By hash. */
	readonly charges = new Map<string, Charge>();
	refusal?: Refusal;
	private origins = 0;
	private added = 0;
	private laterMs = 0;
	private pendingFaults = 0;
	/** Customer, cart and amount of attempts without a clear answer. */
	private readonly doubts = new Set<string>();
	/** The orders, and the items of executions, of such attempts. */
	private readonly doubtsOfItems = new Set<string>();

	/** @param workers are as after a restart, so that a model needs no new ones for each sequence */
	constructor(
		private readonly shop: Shop,
		private readonly workers: NodeProcess[] = [NodeProcess.fresh(), NodeProcess.fresh()],
	) {
		for (const worker of workers) worker.forget();
		const { now } = Date;
		// The clock of all processes.
		jest.spyOn(Date, 'now').mockImplementation(() => now() + this.laterMs);
	}

	async take(step: Step): Promise<void> {
		switch (step.do) {
			case 'ask':
				await this.ask(step.list, step);
				break;
			case 'race':
				await this.race(step.list);
				break;
			case 'retry':
				await this.retry(step);
				break;
			case 'restart':
				this.workers[step.worker ?? 0]?.forget();
				break;
			case 'status':
				await this.changeStatus(step.nth ?? 0, step.status);
				break;
			case 'fault':
				this.pendingFaults++;
				this.shop.fault(step.kind, step.after);
				break;
			case 'obey':
				await this.obey(step.worker);
				break;
			case 'tomorrow':
				this.laterMs += DAY_MS;
		}
		this.expectChargedOnce();
	}

	/** The outputs of the latest run: hash, or the error's text. */
	get latest(): NodeOutcome {
		const { outcome } = this.executions.at(-1) ?? {};
		if (!outcome) throw new Error('Nothing has run');
		return outcome;
	}

	private async ask(list: Sale[], { worker = 0, continues = list.length === 1 }): Promise<void> {
		await this.run({ origin: `${++this.origins}`, list, worker, continues });
	}

	private async race(list: Sale[]): Promise<void> {
		const origins = [`${++this.origins}`, `${++this.origins}`];
		const before = this.shop.account.sandbox.requests.length;
		const outcomes = await Promise.all(
			origins.map(async (origin, worker) => await this.start({ origin, list, worker })),
		);
		this.learn(before);
		outcomes.forEach((outcome, nth) => {
			const origin = origins[nth] ?? '';
			this.executions.push({ origin, list, outcome });
			this.noteOutputs(origin, list, outcome);
		});
	}

	private async retry({
		nth = 0,
		worker = 0,
		continues = false,
		isCrash = false,
		change,
	}: Extract<Step, { do: 'retry' }>): Promise<void> {
		const retried = this.executions[nth % Math.max(1, this.executions.length)];
		if (!retried) return;
		const list = retried.list.map((sale) => {
			if (change === 'clear references') return { ...sale, order: undefined };
			if (change === 'raise prices') return { ...sale, reais: sale.reais + 1 };
			return change === 'add references' && sale.order === undefined
				? { ...sale, order: `added ${++this.added}` }
				: sale;
		});
		await this.run({ origin: retried.origin, list, worker, continues, retried, isCrash, change });
	}

	/** What a person does who follows the error to the letter. */
	private async obey(worker = 0): Promise<void> {
		const { refusal } = this;
		if (!refusal) return;
		this.refusal = undefined;
		this.clearFaults();
		const { sale, origin, text, execution } = refusal;
		const isOfOrder = ({ order }: Sale) => order !== undefined && order === sale.order;
		const name = /Order or Customer (\S.*?), Hash/.exec(text)?.[1];
		expect(name).toBe(sale.order ?? documentOf(sale).replace(/\D/g, ''));
		const found = this.live().filter(([, { isKnown, sale: one }]) =>
			isSameCart(one, sale) ? !isKnown || isOfOrder(one) : !isKnown && isOfOrder(one),
		);
		// The order's charge for another cart is canceled first, as the error says.
		for (const [hash, one] of found.filter((each) => !isSameCart(each[1].sale, sale))) {
			expect(text).toContain('cancel it on your platform first');
			await this.shop.account.sandbox.setStatus(hash, 'canceled');
			one.isKnown = true;
		}
		const hash = found.filter((each) => isSameCart(each[1].sale, sale)).at(-1)?.[0];
		// A person looks in a few minutes.
		this.laterMs += text.includes('is possible tomorrow') ? DAY_MS : FEW_MINUTES_MS;

		const { posts } = this.shop;
		// An attempt that was under way has ended since, so an entry does nothing.
		const isClear = this.isOwed(origin, sale);
		const decisions = [{ orderOrCustomer: name ?? '', hash: hash ?? '' }];
		const isRetry = execution.list.length === 1;
		const outcome = await this.run({
			origin: isRetry ? origin : `${++this.origins}`,
			list: [sale],
			worker,
			continues: true,
			decisions,
			retried: isRetry ? execution : undefined,
		});
		const given = outcome.json[0] ?? {};
		if (errorText(given).includes('is possible tomorrow')) {
			this.refusal = { ...refusal, text: errorText(given) };
			return await this.obey(worker);
		}
		// Another attempt of the order has ended what was told of this doubt.
		if (errorText(given).includes('does not count yet')) {
			this.refusal = { ...refusal, text: errorText(given) };
			return await this.obey(worker);
		}
		if (errorText(given).includes('belongs to another Order Reference')) {
			if (found.at(-1)) found.forEach(([, one]) => (one.isKnown = true));
			this.refusal = refusal;
			return await this.obey(worker);
		}
		// The refusal may be over, so that the item gets the charge that was made since, or its order has another.
		const isOver = /^\w+$|already (?:belongs to|charged)/;
		if (this.shop.posts === posts) expect(given.hash ?? errorText(given)).toMatch(isOver);
		if (hash !== undefined && !isClear) expect(this.shop.posts).toBe(posts);
	}

	private async run({
		origin,
		list,
		decisions,
		change,
		...how
	}: {
		origin: string;
		list: Sale[];
		worker: number;
		continues: boolean;
		decisions?: Ask['decisions'];
		retried?: Execution;
		isCrash?: boolean;
		change?: string;
	}): Promise<NodeOutcome> {
		const { requests } = this.shop.account.sandbox;
		const before = requests.length;
		const owed = list.map((sale) => this.isOwed(origin, sale));
		const isClear = this.pendingFaults === 0 && change === undefined;
		const isDecided = decisions !== undefined;
		const outcome = await this.start({ origin, list, decisions, ...how });
		this.learn(before, isDecided);

		const hash = isDecided ? outcome.json[0]?.hash : undefined;
		if (hash !== undefined) this.settle(origin, list[0], String(hash));
		const execution = { origin, list, outcome };
		if (!how.retried) this.executions.push(execution);
		this.noteOutputs(origin, list, outcome, execution);
		// Without doubts and faults, everybody gets a charge.
		if (isClear && how.continues) {
			const missing = outcome.json.filter((json, item) => owed[item] && json.hash === undefined);
			// `obey` then decides again.
			const isEarly = (text: string) => isDecided && text.includes('does not count yet');
			expect(missing.map(errorText).filter((text) => !isEarly(text))).toEqual([]);
		}

		return outcome;
	}

	private async start({
		origin,
		list,
		worker,
		continues = true,
		decisions = [],
		retried,
		isCrash = false,
	}: {
		origin: string;
		list: Sale[];
		worker: number;
		continues?: boolean;
		decisions?: Ask['decisions'];
		retried?: Execution;
		isCrash?: boolean;
	}): Promise<NodeOutcome> {
		const byItem = (of: (sale: Sale) => unknown): string =>
			`={{ ${JSON.stringify(list.map(of))}[$itemIndex] }}`;
		const hasOrders = list.some(({ order }) => order !== undefined);
		const { outcome } = retried ?? {};
		const stored =
			outcome &&
			(isCrash
				? crashedData(outcome.begun, [
						{ name: 'Start', finished: true },
						{ name: 'Digital Sales', finished: false },
					])
				: retryable(outcome));

		return await this.shop.ask({
			items: list.map(() => ({})),
			process: this.workers[worker],
			continueOnFail: continues,
			...(stored && { retryOf: stored }),
			order: hasOrders ? byItem(({ order = '' }) => order) : undefined,
			more: {
				customerDocument: byItem(documentOf),
				customerEmail: byItem(({ customer, seat = 0 }) => `c${customer}.${seat}@example.com`),
				additionalFields: {
					customFields: byItem(({ reais }) => JSON.stringify({ amount: reais * 100 })),
					tracking: { src: byItem((sale) => label(origin, sale)) },
				},
			},
			decisions,
		});
	}

	/** Judges all new requests: nothing is sent for an attempt in doubt without a decision. */
	private learn(from: number, isDecided = false): void {
		const { requests, transactions } = this.shop.account.sandbox;
		for (const { method, body, status } of requests.slice(from)) {
			if (method !== 'POST') continue;
			const { tracking } = body as { tracking: { src: string } };
			const { origin, sale } = parseLabel(tracking.src);
			const cart = cartOf(sale);
			expect(this.doubts.has(cart) && !isDecided ? `sent in doubt: ${tracking.src}` : '').toBe('');
			if (status === null) {
				this.doubts.add(cart);
				this.doubtsOfItems.add(itemOf(origin, sale));
			} else if (status < 300) {
				this.doubts.delete(cart);
				this.doubtsOfItems.delete(itemOf(origin, sale));
			}
			if (status !== 201) this.pendingFaults = Math.max(0, this.pendingFaults - 1);
		}
		for (const { hash, tracking } of transactions) {
			if (this.charges.has(hash)) continue;
			const { origin, sale } = parseLabel(tracking.src ?? '');
			this.charges.set(hash, { origin, sale, isKnown: false });
		}
	}

	/** A person has said that this transaction belongs to the item. */
	private settle(origin: string, sale: Sale | undefined, hash: string): void {
		if (!sale) return;
		this.doubts.delete(cartOf(sale));
		this.doubtsOfItems.delete(itemOf(origin, sale));
		this.charges.set(hash, { origin, sale: { ...sale }, isKnown: true });
	}

	private noteOutputs(
		origin: string,
		list: Sale[],
		outcome: NodeOutcome,
		execution: Execution = { origin, list, outcome },
	): void {
		const errors = outcome.json.map(errorText);
		outcome.json.forEach(({ hash }, item) => {
			const charge = this.charges.get(String(hash));
			const sale = list[item];
			if (!charge || !sale) return;
			charge.isKnown = true;
			// A reference that was added for a Retry names the charge from then on.
			if (charge.origin === origin) charge.sale.order ??= sale.order;
			expect(isSameCart(charge.sale, sale)).toBe(true);
		});
		const { error } = outcome.node ?? {};
		const failed = error ? Number(error.context?.itemIndex ?? 0) : errors.findIndex(isDoubt);
		const text = error ? errorOf(outcome) : (errors[failed] ?? '');
		const sale = list[failed];
		if (isDoubt(text) && sale) this.refusal = { origin, sale, text, execution };
	}

	/** Whether the item must get a charge, however often it was asked for. */
	private isOwed(origin: string, sale: Sale): boolean {
		const others = this.live().filter(([, one]) => one.sale.order === sale.order);
		const hasOtherData =
			sale.order !== undefined && others.some(([, one]) => !isSameCart(one.sale, sale));
		const isInDoubt = [...this.doubtsOfItems].some(
			(item) =>
				item === itemOf(origin, sale) || item === itemOf(origin, { ...sale, order: undefined }),
		);

		return !hasOtherData && !isInDoubt && !this.doubts.has(cartOf(sale));
	}

	private expectChargedOnce(): void {
		const items = this.live().map(([, { origin, sale }]) => itemOf(origin, sale));
		expect(items.filter((item, nth) => items.indexOf(item) < nth)).toEqual([]);
	}

	private live(): Array<[string, Charge]> {
		const { transactions } = this.shop.account.sandbox;
		const live = transactions.filter(({ payment_status: status }) => !VOID.includes(status));

		return live.flatMap(({ hash }) => {
			const charge = this.charges.get(hash);
			return charge ? [[hash, charge]] : [];
		});
	}

	private async changeStatus(nth: number, status: string): Promise<void> {
		const all = this.live();
		const [hash] = all[nth % Math.max(1, all.length)] ?? [];
		if (hash) await this.shop.account.sandbox.setStatus(hash, status);
	}

	private clearFaults(): void {
		this.shop.account.sandbox.clearFaults();
		this.pendingFaults = 0;
	}
}

function documentOf({ customer }: Sale): string {
	return cpf(111_444_770 + customer);
}

function cartOf({ customer, reais }: Sale): string {
	return `${customer} ${reais}`;
}

function isSameCart(one: Sale, other: Sale): boolean {
	return cartOf(one) === cartOf(other);
}

/** What is charged once. */
function itemOf(origin: string, { order, seat = 0, ...sale }: Sale): string {
	return order === undefined ? `${origin}: ${cartOf(sale)} ${seat}` : `order ${order}`;
}

/** Tells whose charge a transaction is, in a field that the promises do not concern. */
function label(origin: string, { customer, reais, seat = 0, order = '' }: Sale): string {
	return [origin, customer, reais, seat, order].join('|');
}

function parseLabel(text: string): { origin: string; sale: Sale } {
	const [origin = '', customer, reais, seat, order] = text.split('|');
	const numbers = { customer: Number(customer), reais: Number(reais), seat: Number(seat) };

	return { origin, sale: { ...numbers, order: order || undefined } };
}

function errorText({ error }: IDataObject): string {
	const { message = '', advice = '' } = (error ?? {}) as { message?: string; advice?: string };
	return error ? `${message}\n${advice}` : '';
}

function isDoubt(text: string): boolean {
	return text.includes(MAYBE);
}
