import compact from 'lodash/compact';
import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../api/outcome';
import { CanceledError, clock } from '../shared/clock';
import { hold } from '../shared/exclusively';
import type { Refusal } from '../output/errors';
import { attempts, forget, recall, type Attempt } from './attempts';
import { digest, isRetry } from './execution';
import { identify, lastingKeys, ledgerKeys, type Identity, type Identifiable } from './identity';
import { Ledger, LedgerError } from './ledger';
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

/** Something to be made only once, however often it is asked for. */
export interface Creation<T> extends Subject, Identifiable {
	/** Cancels waiting for its turn. */
	signal: AbortSignal;
	/** Runs what decides whether it may be sent, after the decisions on the items before it. */
	inTurn: <R>(decide: () => Promise<R>) => Promise<R>;
	/** The codes that the user typed to allow something in doubt to be made again. */
	repeatCode?: string;
	/** What is wrong with it. Asked last, when nothing else keeps it from being sent. */
	problem?: () => Error | undefined;
	/** The total in integer cents, if known. */
	amount?: number;
	/** Makes it: sends the request. */
	create: () => Promise<T>;
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
 * Makes something, or returns what was made before. Before anything is sent, the attempt is recorded in
 * the process, the execution and n8n's database; only a provable refusal takes it out again.
 *
 * @throws Refusal if it may have been made before, or cannot be recorded; nothing is sent
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	return await new GuardedCreation(creation).run();
}

class GuardedCreation<T> {
	private readonly identity: Identity;
	private readonly ledger: Ledger | undefined;
	/** Those of its order; without one, those of its fingerprint. */
	private readonly turns: Turns;

	constructor(private readonly creation: Creation<T>) {
		this.identity = identify(creation);
		this.ledger = Ledger.of(creation.context);
		const { order, doubt } = this.identity;
		this.turns = new Turns(order ?? doubt, doubt, this.ledger);
	}

	async run(): Promise<Created<T>> {
		const { creation } = this;
		const { existing, release } = await creation.inTurn(async () => await this.enter());
		const making = existing
			? Promise.resolve({ made: existing, isExisting: true })
			: this.create().then((made) => ({ made, isExisting: false }));
		return await making.finally(release);
	}

	/** Waits until nobody else makes the same, and finds what was made or enters this attempt. */
	private async enter(): Promise<{ existing?: T; release: () => void }> {
		const { creation, identity } = this;
		const release = await hold(ledgerKeys(identity), creation.signal);
		const existing = await this.findOrEnter().catch((error: unknown) => {
			release();
			throw error instanceof LedgerError ? notRecorded(creation, error.message) : error;
		});
		return { existing, release };
	}

	private async findOrEnter(): Promise<T | undefined> {
		const { identity, ledger } = this;
		const { existing, doubt } = await this.findInMemory();
		if (existing) return existing;
		if (doubt) await this.permit(doubt);
		const keys = ledgerKeys(identity);
		const seen = (await ledger?.enter(keys)) ?? new Set();
		if (doubt) return undefined;
		await this.permit(this.toldBy(seen)).catch(async (error: unknown) => {
			await ledger?.strike(keys.filter((key) => !seen.has(key)));
			throw error;
		});
		return undefined;
	}

	/** What this process and this execution know: what exists, else what is in doubt. */
	private async findInMemory(): Promise<{ existing?: T; doubt?: Doubt }> {
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
		return { doubt: doubt ?? (await this.free(voids)) };
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
	 */
	private async free(voids: Attempt[]): Promise<Doubt | undefined> {
		const latest = voids.sort((a, b) => a.startedAt - b.startedAt).at(-1);
		if (!latest) return undefined;
		const { creation, identity, ledger } = this;
		const { place, placeByContent, call, order, doubt, spot } = identity;
		const { orderReference, result, turn } = latest;
		const isOrder = order && digest(orderReference ?? '') === digest(creation.orderReference ?? '');
		const freed = compact([place, placeByContent, isOrder && order]);
		// Without an order each transaction has a row of its own.
		const turns = isOrder ? this.turns : new Turns(String(result?.hash), doubt, ledger);
		const next = isOrder ? turn + 1 : 1;
		if (!(await turns.take(next))) return { isSame: false, orderReference };
		creation.memory.delete(spot);
		forget(compact([...freed, call]));
		await ledger?.strike(freed);
		return undefined;
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

	/** Refuses a doubt that no code allows. A code is used up only if it is about to be sent. */
	private async permit(doubt: Doubt | undefined): Promise<void> {
		const { creation, turns } = this;
		const turn = doubt && turns.allowedBy(creation.repeatCode);
		const isAllowed = !doubt || turn !== undefined;
		const problem = isAllowed ? creation.problem?.() : undefined;
		if (problem) throw problem;
		if (!doubt) return;
		if (turn === undefined || !(await turns.take(turn))) {
			throw inDoubt(creation, doubt, await turns.code());
		}
	}

	/** Sends the request, in doubt until its outcome is known. */
	private async create(): Promise<T> {
		const { creation, identity } = this;
		this.remember([...lastingKeys(identity), identity.doubt], this.attempt('inDoubt'));
		const made = await creation.create().catch(async (error: unknown) => {
			if (isProvablyNotMade(error)) await this.withdraw();
			else await this.ledger?.settle(ledgerKeys(identity));
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
		await this.ledger?.settle(lasting, [identity.doubt]);
	}

	private async withdraw(): Promise<void> {
		const { identity } = this;
		this.creation.memory.delete(identity.spot);
		forget([...lastingKeys(identity), identity.doubt]);
		await this.ledger?.strike(ledgerKeys(identity));
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
