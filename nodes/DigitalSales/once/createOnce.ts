import { randomUUID } from 'crypto';
import compact from 'lodash/compact';
import difference from 'lodash/difference';
import type { IDataObject } from 'n8n-workflow';
import type { Recording } from '../api/client';
import { ServiceError } from '../api/outcome';
import { CanceledError, clock } from '../shared/clock';
import { hold } from '../shared/hold';
import type { Refusal } from '../output/errors';
import { attempts, forget, recall, type Attempt } from './memory';
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
import { RepeatCodes } from './repeatCodes';

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
	oneByOne: <R>(step: DecidingStep, decide: () => Promise<R>) => Promise<R>;
	/** The codes that the user typed to allow something in doubt to be made again. */
	repeatCode?: string;
	/** What is wrong with it. Asked last, when nothing else keeps it from being sent. */
	problem?: () => Error | undefined;
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
	doubts?: Doubt[];
	voided?: Attempt;
}

class GuardedCreation<T> {
	private readonly identity: Identity;
	private readonly ledger: Ledger | undefined;
	/** Those of its order; without one, those of its fingerprint. */
	private readonly repeatCodes: RepeatCodes;
	/** What this process knew when the item came up. */
	private known: Known<T> = {};
	/** Names it in the ledger. */
	private readonly owner = digest(randomUUID());
	/** What it has entered. */
	private own: string[] = [];
	/** Those of them that it has taken from an earlier attempt, by a code or since that is void. */
	private readonly lifted = new Set<string>();
	/** Whether that attempt is void. */
	private isTakenOver = false;
	/** The row of which it takes a turn: its own, or that of the void transaction that it replaces. */
	private turns: RepeatCodes;

	constructor(private readonly creation: Creation<T>) {
		this.identity = identify(creation);
		this.ledger = Ledger.of(creation.context);
		const { order, doubt } = this.identity;
		this.repeatCodes = new RepeatCodes(order ?? doubt, doubt, this.ledger);
		this.turns = this.repeatCodes;
	}

	async run(): Promise<Created<T>> {
		const { creation } = this;
		const release = await creation.oneByOne('look', async () => await this.look());
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
			const { doubts } = this.known;
			if (doubts && this.turnFor(doubts) === undefined) throw await this.refusal(doubts);
		} catch (error) {
			release();
			throw this.asRefusal(error);
		}
		return release;
	}

	/** Records the attempt, which is about to be sent. If that fails, nothing of it is left. */
	private async record(): Promise<void> {
		const { creation, identity } = this;
		await creation.oneByOne('record', async () => await this.enter());
		if (creation.isOver()) {
			await this.takeBack();
			throw new CanceledError();
		}
		this.remember(ledgerKeys(identity), this.attempt('inDoubt'));
	}

	/** Enters the keys, or refuses what is in doubt, unless a turn is taken that allows all of it. */
	private async enter(): Promise<void> {
		const { known } = this;
		// Used once: after a 429 another process may have made it meanwhile.
		this.known = {};
		await this.enterUnless(known).catch(async (error: unknown) => {
			await this.takeBack();
			throw error;
		});
	}

	private async enterUnless({ doubts = [], voided }: Known<T>): Promise<void> {
		const seen = await this.claim();
		const toldBesides = (keys: string[]): Doubt[] =>
			this.toldBy(new Set(difference([...seen], keys)));
		const isFree = voided && toldBesides(this.keysOf(voided)).length === 0;
		const all = [...doubts, ...toldBesides(doubts.flatMap(({ keys }) => keys))];
		await (isFree ? this.takeOver(voided) : this.take(all));
		if (seen.size === 0) return;
		if (isFree || all.length > 0) for (const key of seen) this.lifted.add(key);
		await this.claimAllowed(seen).catch((error: unknown) => {
			// What kept others from charging may be gone.
			this.turns.useUp();
			throw error;
		});
	}

	/** Enters all keys under its own name, those that were seen as well: their owner may end meanwhile. */
	private async claimAllowed(seen: ReadonlySet<string>): Promise<void> {
		await this.ledger?.clear([...seen]);
		const others = await this.claim();
		if (others.size === 0) return;
		const told = this.toldBy(others);
		// Of a place alone nothing is told outside of a Retry, but it is refused.
		throw await this.refusal(told.length > 0 ? told : [{ isSame: false, keys: [] }]);
	}

	/** @returns the keys that others have */
	private async claim(): Promise<ReadonlySet<string>> {
		const others = await this.ledger?.claim(ledgerKeys(this.identity), this.owner, this.own);
		return others ?? new Set();
	}

	/** Nothing was sent: what it has entered goes, and a turn that it has taken; what was there before stays. */
	private async takeBack(): Promise<void> {
		await this.release();
		await this.turns.giveBack();
	}

	private async release(): Promise<void> {
		const own = difference(this.own.splice(0), [...this.lifted]);
		await this.ledger?.release(own, this.owner);
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
				const keys = this.keysOf(earlier, { isSame, isHere });
				// What the execution has stored of an attempt is a copy of what the process knows of it.
				const isTold = doubts.some(
					({ attempt }) =>
						attempt?.startedAt === earlier.startedAt && attempt.fingerprint === earlier.fingerprint,
				);
				if (!isTold) doubts.push({ attempt: earlier, isSame, about, orderReference, keys });
			} else if (creation.isVoid(made)) voids.push(earlier);
			else if (!isSame) throw other;
			else if (identity.mayBeAnother) throw perhapsAnother(creation);
			else return { existing: made };
		}
		if (doubts.length > 0) return { doubts };
		return { voided: voids.sort((a, b) => a.startedAt - b.startedAt).at(-1) };
	}

	/** The keys of what is asked for that an earlier attempt accounts for. */
	private keysOf(
		{ orderReference = '' }: Attempt,
		{ isSame = false, isHere = true } = {},
	): string[] {
		const { place, placeByContent, doubt, order } = this.identity;
		const isOrder = digest(orderReference) === digest(this.creation.orderReference ?? '');
		const here = isHere ? [place, placeByContent] : [];
		return compact([...here, ...(isSame ? [doubt, placeByContent] : []), isOrder && order]);
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
	private async takeOver(voided: Attempt): Promise<void> {
		const { orderReference, result, turn } = voided;
		const { order = '', doubt } = this.identity;
		const keys = this.keysOf(voided);
		const isOrder = keys.includes(order);
		// Without an order each transaction has a row of its own.
		const codes = isOrder
			? this.repeatCodes
			: new RepeatCodes(String(result?.hash), doubt, this.ledger);
		this.assertNoProblem();
		this.turns = codes;
		this.isTakenOver = await codes.take(isOrder ? turn + 1 : 1);
		if (this.isTakenOver) return;
		await this.take([{ isSame: false, orderReference, keys }]);
	}

	/** What the keys tell that n8n's database had: places do so only in a Retry. */
	private toldBy(seen: ReadonlySet<string>): Doubt[] {
		const { context, about, orderReference } = this.creation;
		const { place, placeByContent, order = '', doubt } = this.identity;
		const isContent = isRetry(context) && seen.has(placeByContent);
		const isPlace = isRetry(context) && seen.has(place) && !isContent;
		// They need not be of one attempt.
		const told: Doubt[] = [];
		if (isContent || seen.has(doubt)) told.push({ isSame: true, about, keys: [doubt] });
		if (seen.has(order)) told.push({ isSame: false, orderReference, keys: [order] });
		else if (isPlace) told.push({ isSame: false, keys: [place] });
		return told;
	}

	/** Takes the turn that a code allows, or refuses what is in doubt. It is used up only if it is about to be sent. */
	private async take(doubts: Doubt[]): Promise<void> {
		const turn = this.turnFor(doubts);
		const isNeeded = doubts.length > 0;
		if (turn !== undefined || !isNeeded) this.assertNoProblem();
		this.turns = this.repeatCodes;
		// A code that was not needed is used up as well.
		const isTaken = turn !== undefined && (await this.repeatCodes.take(turn));
		if (isNeeded && !isTaken) throw await this.refusal(doubts);
	}

	private turnFor(doubts: Doubt[]): number | undefined {
		return this.repeatCodes.allowedBy(this.creation.repeatCode, this.partsOf(doubts));
	}

	/** What is in doubt, as bits: the same, the order, other data in this place. */
	private partsOf(doubts: Doubt[]): number {
		const { order = '' } = this.identity;
		const partOf = ({ isSame, keys }: Doubt): number =>
			(isSame ? 1 : 0) | (keys.includes(order) ? 2 : isSame ? 0 : 4);
		return doubts.reduce((parts, doubt) => parts | partOf(doubt), 0);
	}

	private assertNoProblem(): void {
		const problem = this.creation.problem?.();
		if (problem) throw problem;
	}

	private async refusal(doubts: Doubt[]): Promise<Refusal> {
		// What may exist is told even if n8n's database gives no code for it.
		const code = await this.repeatCodes.nextCode(this.partsOf(doubts)).catch(() => undefined);
		return inDoubt(this.creation, doubts, code);
	}

	private asRefusal(error: unknown): unknown {
		return error instanceof LedgerError ? notRecorded(this.creation, error.message) : error;
	}

	/** Sends the request, in doubt until its outcome is known. */
	private async create(): Promise<T> {
		const { creation } = this;
		let isRecorded = false;
		const record: Recording = {
			begin: async () => {
				await this.record();
				isRecorded = true;
			},
			undo: async () => {
				// Another may enter the keys while this one waits: its turn stays taken.
				this.turns.useUp();
				await this.withdraw();
				isRecorded = false;
			},
		};
		const made = await creation.create(record).catch(async (error: unknown) => {
			if (!isRecorded) throw this.asRefusal(error);
			if (isProvablyNotMade(error)) await this.withdraw();
			else await this.keepDoubt();
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
		await this.ledger?.release([identity.doubt], this.owner);
	}

	/** Another may have lifted it by a code while it was under way. */
	private async keepDoubt(): Promise<void> {
		for (const key of ledgerKeys(this.identity)) {
			await this.ledger?.enter(key, this.owner).catch(() => undefined);
		}
	}

	/** It was not made. What a code has lifted stays in doubt: somebody may be making it. */
	private async withdraw(): Promise<void> {
		const { identity } = this;
		this.creation.memory.delete(identity.spot);
		forget(compact([...ledgerKeys(identity), identity.call]));
		if (this.isTakenOver) this.lifted.clear();
		await this.release();
	}

	private attempt(state: Attempt['state']): Attempt {
		const { account, fingerprint, about, orderReference } = this.creation;
		const when = { startedAt: clock.now(), turn: this.repeatCodes.latest };
		return { state, account: account.key, fingerprint, about, orderReference, ...when };
	}

	/** Remembers an attempt in the execution and, under these keys, in the process. */
	private remember(keys: readonly string[], attempt: Attempt): void {
		const { identity } = this;
		const { memory, itemIndex: item } = this.creation;
		memory.set(identity.spot, { run: memory.run(), item }, attempt);
		for (const key of compact([...keys, identity.call])) attempts.set(key, attempt);
	}
}

/** Any unforeseen error after the request may have left keeps the outcome in doubt. */
function isProvablyNotMade(error: unknown): boolean {
	if (error instanceof CanceledError) return true;
	return error instanceof ServiceError && !error.isInDoubt;
}
