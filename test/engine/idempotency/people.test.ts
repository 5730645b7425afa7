import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { IDataObject, IRunExecutionData } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { sequences } from '../../helpers/extent';
import { cpf } from '../../helpers/charge';
import { crashedData, type NodeOutcome, NodeProcess } from '../../helpers/engine';
import { MAYBE, retryable, useShop, VOID } from '../../helpers/charging';
import { callTool } from '../../helpers/tool';

const RUNS = sequences(2);
const STEPS = Number(process.env.MODEL_STEPS ?? 9);
const MINUTE_MS = 60_000;

/** The month in the Order References. Without a month there are none. */
type Month = 'jan' | 'feb' | undefined;

const month = fc.constantFrom<Month[]>(undefined, 'jan', 'jan', 'feb');
const stops = fc.boolean();
/** Whether a person then follows each refusal. */
const obeys = fc.boolean();
/** Whether another worker runs the execution, and the run that follows a refusal. */
const isElsewhere = fc.constantFrom(false, false, true);
const obeysElsewhere = isElsewhere;
const person = fc.constantFrom(1, 2, 3);
/** The price in the catalog from then on. The prices in the form are blank. */
const cents = fc.constantFrom(1_990, 2_500);

const step = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('ask' as const),
			people: fc.uniqueArray(person, { minLength: 1 }),
			...{ month, cents, stops, obeys, isElsewhere, obeysElsewhere },
		}),
	},
	{
		weight: 6,
		arbitrary: fc.record({
			do: fc.constant('retry' as const),
			nth: fc.nat(9),
			isCrashed: fc.constantFrom(false, false, false, true),
			...{ month, cents, stops, obeys, isElsewhere, obeysElsewhere },
		}),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant('call' as const),
			person: fc.constantFrom(1, 1, 2),
			email: fc.constantFrom('old', 'old', 'new'),
			obeys,
		}),
	},
	{ weight: 2, arbitrary: fc.constant({ do: 'restart' as const }) },
	{ weight: 1, arbitrary: fc.constant({ do: 'later' as const }) },
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant('status' as const),
			nth: fc.nat(9),
			status: fc.constantFrom('expired', 'paid', 'paid'),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('fault' as const),
			kind: fc.constantFrom('loseAnswer', 'loseAnswer', 'loseRequest', 'refuse', 'refuse' as const),
			after: fc.nat(2),
		}),
	},
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant('unreadable' as const),
			status: fc.constantFrom(400, 404, 410, 422),
			times: fc.constantFrom(1, 4),
		}),
	},
);

/** An execution and its Retries, which charge each person once. */
interface Lineage {
	/** The charges that it made or got. */
	readonly hashes: Map<number, Set<string>>;
}

interface Execution {
	lineage: Lineage;
	people: number[];
	/** The stored data for n8n's Retry. */
	data: IRunExecutionData;
	crashed: IRunExecutionData;
}

interface Order {
	month: Month;
	stops: boolean;
	/** What is entered as Charge in Doubt. */
	entered?: string;
	/** Whether the entered text is a code. */
	isCoded?: boolean;
	/** In reais, instead of the sum of the cart. */
	amount?: string;
	retries?: Execution;
	isCrashed?: boolean;
	isElsewhere?: boolean;
	obeysElsewhere?: boolean;
}

/** The outcome of an item: its charge, or the refusal. */
interface Answer {
	person: number;
	given?: IDataObject;
	text: string;
}

const CODE = /\b[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}\b/;

describe('People who are charged by lists and agents, with references that come and go, Retries, workers, restarts, codes and hashes', () => {
	const shop = useShop();
	const otherWorker = NodeProcess.fresh();

	test(
		'are charged once for an order, never get the charge of others, and each refusal has a way out',
		async () => {
			const property = fc.asyncProperty(
				fc.array(step, { minLength: 3, maxLength: STEPS }),
				async (steps) => {
					shop.account.reset();
					shop.begin();
					const model = new PeopleModel(shop, otherWorker);
					for (const one of steps) await model.take(one);
				},
			);
			await fc.assert(property, { numRuns: RUNS });
		},
		60_000 + 1_000 * RUNS,
	);
});

type Shop = ReturnType<typeof useShop>;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Knows the charges of each person, and checks every execution against them. */
class PeopleModel {
	private readonly executions: Execution[] = [];
	/** By hash: the reference of the charge. */
	private readonly references = new Map<string, string>();
	/** Hashes that a person entered for an item without a reference, and that it got. */
	private readonly givenWithout = new Set<string>();
	/** Hashes that a person has seen. */
	private readonly shown = new Set<string>();
	/** The answers to the calls of an agent, with their times. */
	private calls = new Map<string, { hash: string; at: number }>();

	constructor(
		private readonly shop: Shop,
		private readonly otherWorker: NodeProcess,
	) {}

	private get blankPrice() {
		return { cart: { items: [{ offerHash: this.shop.offer }] } };
	}

	async take(one: Step): Promise<void> {
		const { shop } = this;
		if (one.do === 'restart') {
			clearProcessState();
			this.calls.clear();
		} else if (one.do === 'later') await pause(20 * MINUTE_MS);
		else if (one.do === 'fault') shop.fault(one.kind, one.after);
		else if (one.do === 'unreadable') {
			shop.account.fault('read', { kind: 'status', status: one.status }, one.times);
		} else if (one.do === 'status') {
			const hash = shop.hashes[one.nth % Math.max(1, shop.hashes.length)];
			if (hash !== undefined && this.isLive(hash)) {
				await shop.account.sandbox.setStatus(hash, one.status);
			}
		} else if (one.do === 'call') await this.call(one);
		else {
			shop.changePrice(one.cents);
			if (one.do === 'ask') return await this.ask(one.people, one, one.obeys);
			const retries = this.executions[one.nth % Math.max(1, this.executions.length)];
			if (retries) await this.ask(retries.people, { ...one, retries }, one.obeys);
		}
	}

	private async ask(people: number[], order: Order, obeys: boolean): Promise<void> {
		const { execution, answers } = await this.run(people, order);
		if (!obeys) return;
		for (const answer of answers) {
			if (answer.text !== '') await this.obey(answer, order, execution);
		}
	}

	/** Runs the node, and checks its charges. */
	private async run(people: number[], order: Order) {
		const { shop } = this;
		const { month, retries, isCrashed } = order;
		const before = new Set(shop.hashes);
		const live = new Set(shop.hashes.filter((hash) => this.isLive(hash)));
		const outcome = await shop.ask({
			order: month && `={{ "${month}-" + $json.person }}`,
			code: order.entered,
			more: {
				...this.blankPrice,
				...(order.amount && { additionalFields: { amount: order.amount } }),
				customerDocument: '={{ $json.document }}',
				customerEmail: '={{ $json.email }}',
			},
			items: people.map((one) => itemOf(one)),
			continueOnFail: !order.stops,
			process: order.isElsewhere === true ? this.otherWorker : undefined,
			retryOf: retries && (isCrashed === true ? retries.crashed : retries.data),
		});
		const execution = {
			lineage: retries?.lineage ?? { hashes: new Map() },
			people,
			data: retryable(outcome),
			crashed: crashedData(outcome.begun, [{ name: 'Digital Sales', finished: false }]),
		};
		this.executions.push(execution);
		const referenceOf = (one: number) => month && `${month}-${one}`;
		const of = (one: number): Set<string> => {
			const hashes = execution.lineage.hashes.get(one) ?? new Set();
			execution.lineage.hashes.set(one, hashes);
			return hashes;
		};
		for (const { hash, customer } of shop.account.sandbox.transactions) {
			if (before.has(hash)) continue;
			const one = people.find((each) => documentOf(each) === customer.document) ?? 0;
			const reference = referenceOf(one);
			const rivals = [...live].filter(
				(other) =>
					(reference !== undefined && this.references.get(other) === reference) ||
					(!order.isCoded && of(one).has(other)) ||
					// Nobody knows of it yet.
					(!order.isCoded && !this.shown.has(other) && this.documentOf(other) === documentOf(one)),
			);
			// Nobody is charged twice for one order.
			expect(rivals).toEqual([]);
			if (reference !== undefined) this.references.set(hash, reference);
			of(one).add(hash);
		}
		const answers = answersOf(outcome, people);
		for (const { person: one, given, text } of answers) {
			for (const hash of shop.hashes) if (text.includes(hash)) this.shown.add(hash);
			if (!given) continue;
			const hash = String(given.hash);
			const reference = referenceOf(one);
			this.shown.add(hash);
			// Nobody gets the charge of another person or order.
			expect(this.documentOf(hash)).toBe(documentOf(one));
			// A person who entered the hash without a reference has said that the charge belongs to this item.
			const isAssigned = this.givenWithout.has(hash) && of(one).has(hash);
			const earlier = isAssigned ? undefined : this.references.get(hash);
			expect([undefined, reference]).toContain(reference && earlier);
			// In a Retry, the charges of its original are new to the next nodes. An entered hash counts as one of them if
			// this worker does not know better.
			const isEntered = order.entered?.includes(hash) === true;
			const isOfRetried = retries !== undefined && (isEntered || of(one).has(hash));
			if (!isOfRetried) expect(given.already_charged).toBe(before.has(hash));
			expect(this.isLive(hash)).toBe(true);
			if (reference !== undefined) this.references.set(hash, reference);
			else if (isEntered) this.givenWithout.add(hash);
			of(one).add(hash);
		}
		return { execution, answers };
	}

	/** Follows each refusal until the order has a charge. */
	private async obey(first: Answer, order: Order, execution: Execution): Promise<void> {
		const { sandbox } = this.shop.account;
		const { person: one } = first;
		let { text } = first;
		let retries = order.retries && execution;
		let people = retries ? execution.people : [one];
		let entered: string[] = [];
		let isCoded = false;
		let amount: string | undefined;
		// The hash entered was shown before, so another charge is in doubt.
		let isAnotherInDoubt = false;
		let { month } = order;
		const seen: string[] = [];
		for (let round = 0; round < 6 && text !== ''; round++) {
			seen.push(text);
			sandbox.clearFaults();
			let expected: string | undefined;
			if (text.includes(MAYBE) && !text.includes('dashboard first')) {
				const code = CODE.exec(text)?.[0];
				expect(code ?? text).toMatch(CODE);
				const hash = this.inDashboard(one, month, retries?.lineage);
				const [, accepted] =
					/has another amount .* Amount in Reais to ([\d,]+) in a new execution with this item alone/.exec(
						text,
					) ?? [];
				if (accepted !== undefined && amount === undefined) {
					// The price in the catalog has changed since.
					amount = accepted;
					people = [one];
					retries = undefined;
					[expected] = entered;
				} else if (hash !== undefined && !entered.includes(hash)) {
					isAnotherInDoubt ||= this.shown.has(hash);
					entered = [hash];
					expected = hash;
				} else if (hash !== undefined && month && this.givenWithout.has(hash)) {
					expect(text).toContain('If another run has returned that charge, leave this item out.');
					return;
				} else {
					// A person who enters a code has seen the customer's charges in the dashboard.
					for (const each of this.shop.hashes)
						if (this.documentOf(each) === documentOf(one)) this.shown.add(each);
					entered = [code ?? ''];
					isCoded = true;
				}
			} else if (text.includes('already charged under')) {
				const [, hash = ''] = /existing transaction is (\w+)/.exec(text) ?? [];
				const [, back] = /back to "(\w+)-\d"/.exec(text) ?? [];
				// The doubt is still open, so `orderNext` checks nothing.
				entered = [];
				expect(this.isLive(hash) ? '' : text).toBe('');
				if (back === 'jan' || back === 'feb') {
					month = back;
					expected = hash;
				} else {
					people = [one];
					retries = undefined;
				}
			} else if (retries && text.includes('in a Retry, clear Order Reference')) {
				[, expected] = /existing transaction of this item is (\w+)/.exec(text) ?? [];
				month = undefined;
			} else if (/another cart or amount of this customer|This item was already/.test(text)) {
				// The price has changed. A person who reads that continues with the existing charge.
				const [, hash = ''] = /existing transaction is (\w+)/.exec(text) ?? [];
				expect(this.documentOf(hash)).toBe(documentOf(one));
				// A charge that could not be read may be void.
				if (this.isLive(hash)) return;
			} else if (/Continue with it|(?<!that charge, )leave this item out[.;]/.test(text)) {
				// The person continues with the charge that the error names.
				const [, hash = ''] = /[Tt]ransaction (?:of this item is )?(\w{6,})\b/.exec(text) ?? [];
				expect(this.documentOf(hash)).toBe(documentOf(one));
				return;
			} else expect(text).toMatch(/\(422\)|dashboard first/);
			const ofExecution = retries?.lineage.hashes.get(one) ?? [];
			const mayBe = [expected, ...ofExecution, ...this.hashesOf(month && `${month}-${one}`)];
			const again = await this.run(people, {
				...{ month, retries, isCoded, amount },
				entered: entered.join(', '),
				stops: false,
				isElsewhere: order.obeysElsewhere,
			});
			const answer = again.answers.find(({ person: who }) => who === one);
			text = answer?.text ?? '';
			// One worker may know another charge of the order or the execution than the other worker does.
			if (expected !== undefined && text === '') expect(mayBe).toContain(answer?.given?.hash);
		}
		expect(text === '' ? [] : [...seen, text]).toEqual([]);
		const reference = month && `${month}-${one}`;
		isAnotherInDoubt ||= seen.some((each) => namesOtherOrder(each, reference));
		if (!isAnotherInDoubt) await this.orderNext(one, entered);
	}

	/** Once a doubt is over, the next order of the same customer is charged like any other. */
	private async orderNext(one: number, entered: string[]): Promise<void> {
		if (entered.length === 0) return;
		const before = this.shop.charges;
		const { json } = await this.shop.ask({
			order: `next-${before}`,
			more: {
				...this.blankPrice,
				customerDocument: documentOf(one),
				customerEmail: `${one}@example.com`,
			},
			continueOnFail: true,
		});
		expect(json[0]?.error ?? null).toBeNull();
		const hash = String(json[0]?.hash);
		this.references.set(hash, `next-${before}`);
		this.shown.add(hash);
		expect(this.shop.charges).toBe(before + 1);
	}

	private hashesOf(reference: string | undefined): string[] {
		const found = [...this.references].filter(([, other]) => other === reference);
		return found.map(([hash]) => hash);
	}

	/** The charge that a person who knows the hashes shown before finds in the dashboard. */
	private inDashboard(one: number, month: Month, lineage?: Lineage): string | undefined {
		const reference = month && `${month}-${one}`;
		const own = this.shop.hashes.filter(
			(hash) => this.isLive(hash) && this.documentOf(hash) === documentOf(one),
		);
		const isFree = (hash: string): boolean => reference === undefined || !this.references.has(hash);
		return (
			own.find((hash) => reference !== undefined && this.references.get(hash) === reference) ??
			own.find((hash) => isFree(hash) && lineage?.hashes.get(one)?.has(hash)) ??
			own.find((hash) => isFree(hash) && !this.shown.has(hash))
		);
	}

	/** The agent of a chat calls its tool. */
	private async call(asked: { person: number; email: string; obeys: boolean }): Promise<void> {
		const { shop } = this;
		const { person: one, email: which } = asked;
		const email = `${which}-${one}@example.com`;
		const call = async (entered?: string) => {
			const before = new Set(shop.hashes);
			const more = { customerDocument: documentOf(one), customerEmail: email };
			const { answers, errors, outcome } = await callTool(
				shop.parameters(undefined, { ...more, options: { repeatCode: entered } }),
				[{}],
				{ credentials: shop.account.credentials, workflowId: `${shop.workflowId} chat` },
			);
			const [[given] = []] = answers;
			for (const hash of shop.hashes) if (!before.has(hash)) this.shown.add(hash);
			const made = shop.hashes.filter((hash) => !before.has(hash));
			if (given) {
				const stated = shop.account.sandbox.transactions.find(({ hash }) => hash === given.hash);
				// Other contact data belong to another person, unless a person entered the hash.
				if (entered === undefined) expect(stated?.customer.email).toBe(email);
				expect(stated?.customer.document).toBe(documentOf(one));
				expect(given.already_charged).toBe(before.has(String(given.hash)));
				const latest = this.calls.get(email);
				const isRecent = latest && clock.now() - latest.at < 15 * MINUTE_MS;
				if (isRecent && this.isLive(latest.hash)) expect(given.hash).toBe(latest.hash);
				if (!before.has(String(given.hash))) {
					this.calls.set(email, { hash: String(given.hash), at: clock.now() });
				}
			}
			expect(errors.join()).not.toMatch(CODE);
			const logged = outcome.logs.map(({ text }) => text).filter((text) => CODE.test(text));
			return { given, made, error: errors.join(), code: CODE.exec(logged.at(-1) ?? '')?.[0] };
		};
		const first = await call();
		if (first.given || !asked.obeys || first.error.includes('(422)')) return;
		shop.account.sandbox.clearFaults();
		const again = await call();
		if (again.given) return;
		expect(again.error).toContain(MAYBE);
		const known = [...this.calls.values()].map(({ hash }) => hash);
		const [made] = first.made.filter((hash) => !known.includes(hash));
		const last = await call(made ?? again.code);
		expect(last.given ? '' : last.error).toBe('');
		if (made !== undefined) expect(last.given?.hash).toBe(made);
	}

	private isLive(hash: string): boolean {
		const status = this.shop.account.sandbox.transactions.find((one) => one.hash === hash);
		return status !== undefined && !VOID.includes(status.payment_status);
	}

	private documentOf(hash: string): unknown {
		return this.shop.account.sandbox.transactions.find((one) => one.hash === hash)?.customer
			.document;
	}
}

/** Whether a refusal is also about the doubt of another order, which the hash of this order does not end. */
function namesOtherOrder(text: string, reference: string | undefined): boolean {
	const [, named] = /charged for order "([^"]+)"/.exec(text) ?? [];
	return text.includes('Also: ') || (named !== undefined && named !== reference);
}

function documentOf(one: number): string {
	return cpf(111_444_770 + one).replace(/\D/g, '');
}

function itemOf(one: number): IDataObject {
	return { person: one, document: documentOf(one), email: `${one}@example.com` };
}

/** The outcome of each item, or of the failed item if the run failed. */
function answersOf({ node, json }: NodeOutcome, people: number[]): Answer[] {
	if (node?.error) {
		const { message, description, context } = node.error;
		const index = Number(context?.itemIndex ?? 0);
		return [{ person: people[index] ?? 0, text: `${message}\n${String(description)}` }];
	}
	return people.map((one, index): Answer => {
		const { error, ...given } = json[index] ?? {};
		if (!error) return { person: one, given, text: '' };
		const { message, advice } = error as IDataObject;
		return { person: one, text: `${String(message)}\n${String(advice)}` };
	});
}
