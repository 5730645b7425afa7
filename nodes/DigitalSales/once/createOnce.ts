import compact from 'lodash/compact';
import difference from 'lodash/difference';
import type { IDataObject } from 'n8n-workflow';
import type { Recording } from '../api/client';
import { ServiceError } from '../api/outcome';
import { CanceledError, clock } from '../shared/clock';
import { hold } from '../shared/exclusively';
import type { Refusal } from '../output/errors';
import { attempts, forget, recall, type Attempt } from './attempts';
import { digest, isRetry } from './execution';
import { identify, lastingKeys, ledgerKeys, type Identity, type Identifiable } from './identity';
import { LateError, Ledger, LedgerError, type Claim } from './ledger';
import {
	changed,
	inDoubt,
	notRecorded,
	otherAccount,
	otherOrder,
	perhapsAnother,
	unreadable,
	type Doubt,
	type Subject,
} from './refusals';
import { Turns } from './turns';

/** An agent repeats a call soon; a customer who buys the same again comes later. */
const CALL_COUNTS_MS = 15 * 60_000;

/** What is known is looked at when an item comes up; it is recorded when it is about to be sent. */
export type DecidingStep = 'look' | 'record';

/** Something to be made only once, however often it is asked for. */
export interface Creation<T> extends Subject, Identifiable {
	/** Cancels waiting for its turn. */
	signal: AbortSignal;
	/** Whether another answer has ended the run: then nothing more is sent. */
	isOver: () => boolean;
	/** Runs a step of what decides whether it may be sent, after the same step of the items before it. */
	inTurn: <R>(step: DecidingStep, decide: () => Promise<R>) => Promise<R>;
	/** The codes that the user typed to allow something in doubt to be made again. */
	repeatCode?: string;
	/** What is wrong with it. Asked last, when nothing else keeps it from being sent. */
	problem?: () => Error | undefined;
	/** The total in integer cents, if known. */
	amount?: number;
	/** Makes it: sends the request, while it is recorded. */
	create: (record: Recording) => Promise<T>;
	/** What is stored of it, to return it again. */
	keep: (made: T) => IDataObject;
	/** Returns what was made before. */
	again: (kept: IDataObject) => Promise<T>;
	/** Whether it can no longer be paid, such as an expired charge: then it guards nothing. */
	isVoid: (made: T) => boolean;
}

/** What was made, just now or before. */
export interface Created<T> {
	made: T;
	isExisting: boolean;
}

/**
 * Makes something, or returns what was made before. Just before anything is sent, the attempt is recorded
 * in the process, the execution and n8n's database; only a provable refusal takes it out again.
 *
 * @throws Refusal if it may have been made before, or cannot be recorded; nothing is sent
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	return await new GuardedCreation(creation).run();
}

/** What this process and this execution know: what exists, else what is in doubt, else what is void. */
interface Known<T> {
	existing?: T;
	doubt?: Doubt;
	voided?: Attempt;
}

class GuardedCreation<T> {
	private readonly identity: Identity;
	private readonly ledger: Ledger | undefined;
	/** Those of its order; without one, those of its fingerprint. */
	private readonly turns: Turns;
	/** What this process knew when the item came up. */
	private known: Known<T> = {};
	private nonce?: string;

	constructor(private readonly creation: Creation<T>) {
		this.identity = identify(creation);
		this.ledger = Ledger.of(creation.context);
		const { order, doubt } = this.identity;
		this.turns = new Turns(order ?? doubt, doubt, this.ledger);
	}

	async run(): Promise<Created<T>> {
		const { creation } = this;
		const release = await creation.inTurn('look', async () => await this.look());
		const { existing } = this.known;
		const making = existing
			? Promise.resolve({ made: existing, isExisting: true })
			: this.create().then((made) => ({ made, isExisting: false }));
		return await making.finally(release);
	}

	/** Waits until nobody else here makes the same, and looks for what was made. */
	private async look(): Promise<() => void> {
		const { creation, identity } = this;
		const release = await hold(ledgerKeys(identity), creation.signal);
		try {
			this.known = await this.findInMemory();
			const { doubt } = this.known;
			if (doubt && this.turns.allowedBy(creation.repeatCode) === undefined) {
				throw await this.refusal(doubt);
			}
		} catch (error) {
			release();
			throw this.recorded(error);
		}
		return release;
	}

	/** Records the attempt, which is about to be sent. If that fails, nothing of it is left. */
	private async record(): Promise<void> {
		const { creation, identity, ledger } = this;
		const claim = await creation.inTurn('record', async () => await this.enter());
		const others = await this.win(claim);
		if (others.size > 0) throw await this.refusal(this.toldBy(others) ?? { isSame: false });
		if (claim && creation.isOver()) {
			await ledger?.takeBack(claim);
			throw new CanceledError();
		}
		this.nonce = claim?.nonce;
		this.remember([...lastingKeys(identity), identity.doubt], this.attempt('inDoubt'));
	}

	/** The keys of a claim that another process has, or may have. */
	private async win(claim: Claim | undefined): Promise<ReadonlySet<string>> {
		const winning = claim && this.ledger?.win(claim);
		const others = await winning?.catch((error: unknown) => {
			if (error instanceof LateError) return new Set(claim?.keys);
			throw error;
		});
		return others ?? new Set();
	}

	/** Enters the keys, or refuses what they tell, unless a turn is taken that frees them. */
	private async enter(): Promise<Claim | undefined> {
		const { identity, ledger } = this;
		const { doubt, voided } = this.known;
		// It may be sent again after a 429, and another process may make it meanwhile.
		this.known = {};
		const keys = ledgerKeys(identity);
		if (doubt) await this.take(doubt);
		const freed = doubt ? keys : voided ? await this.takeOver(voided) : [];
		const claim = await ledger?.claim(keys);
		const told = this.toldBy(new Set(difference([...(claim?.seen ?? [])], freed)));
		const deciding = told ? this.take(told) : this.assertNoProblem();
		await deciding.catch(async (error: unknown) => {
			if (claim) await ledger?.takeBack(claim);
			throw error;
		});
		return claim;
	}

	private async findInMemory(): Promise<Known<T>> {
		const { creation, identity } = this;
		const here = this.attemptsHere();
		const doubts: Doubt[] = [];
		const voids: Attempt[] = [];
		for (const earlier of new Set([...here, ...this.attemptsElsewhere()])) {
			const isSame = earlier.fingerprint === creation.fingerprint;
			const isHere = here.includes(earlier);
			const other = isHere ? changed(creation, earlier) : otherOrder(creation);
			const made =
				earlier.state === 'made' && (await this.read(earlier, isSame ? undefined : other));
			if (!made) {
				const { orderReference } = earlier;
				// Another customer's order shows nothing of it.
				const about = isSame || isHere ? earlier.about : undefined;
				doubts.push({ attempt: earlier, isSame, about, orderReference });
			} else if (creation.isVoid(made)) voids.push(earlier);
			else if (!isSame) throw other;
			else if (identity.isVague) throw perhapsAnother(creation);
			else return { existing: made };
		}
		const [doubt] = doubts;
		return doubt ? { doubt } : { voided: voids.sort((a, b) => a.startedAt - b.startedAt).at(-1) };
	}

	/** Only a Retry returns to a place that its own memory lacks. */
	private attemptsHere(): Attempt[] {
		const { identity, creation } = this;
		const places = isRetry(creation.context) ? [identity.place, identity.placeByContent] : [];
		return compact([creation.memory.get(identity.spot), ...places.map(recall)]);
	}

	private attemptsElsewhere(): Attempt[] {
		const { order, doubt, call } = this.identity;
		const called = recall(call);
		const isRecent = called && clock.now() - called.startedAt < CALL_COUNTS_MS;
		return compact([recall(order), isRecent && called, recall(doubt)]);
	}

	/**
	 * Reads what an attempt has made.
	 *
	 * @param other the refusal if that was something else than this
	 * @returns undefined if the service has no such transaction
	 */
	private async read(earlier: Attempt, other: Refusal | undefined): Promise<T | undefined> {
		const { creation } = this;
		const { result = {} } = earlier;
		// Another token may belong to the same account: then the transaction can be read.
		const isOwn = earlier.account === creation.account.key;
		if (!isOwn && (other ?? creation.kind === 'offer')) throw otherAccount(creation);
		return await creation.again(result).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			if (!isOwn) throw otherAccount(creation);
			if (error.outcome.status === 404) return undefined;
			throw other ?? unreadable(creation, String(result.hash), error.outcome);
		});
	}

	/**
	 * What is void guards nothing any more: the next turn is this one's, unless another process has made
	 * it again since, which is then in doubt.
	 *
	 * @returns the keys that this frees
	 */
	private async takeOver({ orderReference, result, turn }: Attempt): Promise<string[]> {
		const { creation, identity, ledger } = this;
		const { place, placeByContent, order, doubt } = identity;
		const isOrder = order && digest(orderReference ?? '') === digest(creation.orderReference ?? '');
		// Without an order each transaction has a row of its own.
		const turns = isOrder ? this.turns : new Turns(String(result?.hash), doubt, ledger);
		await this.assertNoProblem();
		if (await turns.take(isOrder ? turn + 1 : 1))
			return compact([place, placeByContent, isOrder && order]);
		await this.take({ isSame: false, orderReference });
		return ledgerKeys(identity);
	}

	/** What the keys tell that n8n's database had: places do so only in a Retry. */
	private toldBy(seen: ReadonlySet<string>): Doubt | undefined {
		const { context, about, orderReference } = this.creation;
		const { place, placeByContent, order, doubt } = this.identity;
		const isKnown = (key: string | undefined) => key !== undefined && seen.has(key);
		const [isOrder, isContent] = [isKnown(order), isRetry(context) && isKnown(placeByContent)];
		const isSame = isContent || isKnown(doubt);
		const isPlace = isRetry(context) && isKnown(place);
		if (!isSame && !isOrder && !isPlace) return undefined;
		// Together they need not be of one attempt.
		return isSame ? { isSame, about } : { isSame, ...(isOrder && { orderReference }) };
	}

	/** Takes the turn that a code allows, or refuses the doubt. It is used up only if it is about to be sent. */
	private async take(doubt: Doubt): Promise<void> {
		const turn = this.turns.allowedBy(this.creation.repeatCode);
		if (turn !== undefined) await this.assertNoProblem();
		if (turn === undefined || !(await this.turns.take(turn))) throw await this.refusal(doubt);
	}

	private async assertNoProblem(): Promise<void> {
		const problem = this.creation.problem?.();
		if (problem) throw problem;
	}

	private async refusal(doubt: Doubt): Promise<Refusal> {
		return inDoubt(this.creation, doubt, await this.turns.code());
	}

	private recorded(error: unknown): unknown {
		return error instanceof LedgerError ? notRecorded(this.creation, error.message) : error;
	}

	/** Sends the request, in doubt until its outcome is known. */
	private async create(): Promise<T> {
		const { creation, identity } = this;
		let isRecorded = false;
		const record: Recording = {
			begin: async () => {
				await this.record();
				isRecorded = true;
			},
			undo: async () => {
				await this.withdraw();
				isRecorded = false;
			},
		};
		const made = await creation.create(record).catch(async (error: unknown) => {
			if (!isRecorded) throw this.recorded(error);
			if (isProvablyNotMade(error)) await this.withdraw();
			else await this.ledger?.settle(ledgerKeys(identity), compact([this.nonce]));
			throw error;
		});
		await this.settle(made);
		return made;
	}

	/** Takes the doubt out; the place and the order stay, unless it is void at once. */
	private async settle(made: T): Promise<void> {
		const { creation, identity } = this;
		if (creation.isVoid(made)) return await this.withdraw();
		const result = creation.keep(made);
		this.remember(lastingKeys(identity), { ...this.attempt('made'), result });
		forget([identity.doubt]);
		const lasting = ledgerKeys(identity).filter((key) => key !== identity.doubt);
		await this.ledger?.settle(lasting, compact([identity.doubt, this.nonce]));
	}

	private async withdraw(): Promise<void> {
		const { identity } = this;
		this.creation.memory.delete(identity.spot);
		forget([...lastingKeys(identity), identity.doubt]);
		await this.ledger?.strike(compact([...ledgerKeys(identity), this.nonce]));
	}

	private attempt(state: Attempt['state']): Attempt {
		const { account, fingerprint, about, orderReference } = this.creation;
		const when = { startedAt: clock.now(), turn: this.turns.latest };
		return { state, account: account.key, fingerprint, about, orderReference, ...when };
	}

	/** Remembers an attempt in the execution and, under these keys, in the process. */
	private remember(keys: readonly string[], attempt: Attempt): void {
		const { identity } = this;
		const { memory, itemIndex: item } = this.creation;
		memory.set(identity.spot, { run: memory.run(), item }, attempt);
		for (const key of keys) attempts.set(key, attempt);
	}
}

/** Any unforeseen error after the request may have left keeps the outcome in doubt. */
function isProvablyNotMade(error: unknown): boolean {
	if (error instanceof CanceledError) return true;
	return error instanceof ServiceError && !error.isInDoubt;
}
