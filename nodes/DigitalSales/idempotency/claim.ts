import { randomUUID } from 'crypto';
import compact from 'lodash/compact';
import difference from 'lodash/difference';
import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../api/serviceError';
import type { NotSentError } from '../output/errors';
import { CanceledError, clock } from '../shared/clock';
import { digest } from '../shared/digest';
import { lockKeys } from '../shared/lock';
import type { Creation } from './creation';
import { findEarlier, type Found, hasOtherReference, keysOf, type Known } from './earlier';
import { isRetry } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import { identify, type Identity, madeKey } from './keys';
import { LedgerError } from '../n8n/processedItems';
import { Ledger } from './ledger';
import { forget, learn, recall, type Attempt } from './attempts';
import { inDoubt, notRecorded, otherReference, type Doubt } from './refusals';
import { hashesIn, RepeatCodes, type Told } from './overrideCodes';

/** The right to make something: its keys in the process, the execution and n8n's database. */
export class Claim<T> {
	private readonly identity: Identity;
	private readonly ledger: Ledger | undefined;
	/** Those of its order; without one, those of its fingerprint. */
	private readonly repeatCodes: RepeatCodes;
	/** The row of which it takes a turn: its own, or that of the void transaction that it replaces. */
	private turns: RepeatCodes;
	/** What was known when the item came up. */
	private known: Known<T> = {};
	/** Names it in the ledger. */
	private readonly owner = digest(randomUUID());
	/** What it has entered there. */
	private own: string[] = [];
	/** Those of them that it has taken from an earlier attempt, by a code or since that is void. */
	private lifted: string[] = [];
	/** Whether that attempt is void. */
	private isTakenOver = false;
	/** Whether it is taken: then a request may be under way. */
	private isTaken = false;
	/** Of what the user says exists. */
	private readonly hashes: string[];
	/** Lets others here make the same. */
	release: () => void = () => undefined;

	constructor(private readonly creation: Creation<T>) {
		this.identity = identify(creation);
		this.ledger = Ledger.of(creation.context);
		const { order, doubt } = this.identity;
		this.repeatCodes = new RepeatCodes(order ?? doubt, doubt, this.ledger);
		this.turns = this.repeatCodes;
		this.hashes = creation.fits ? hashesIn(creation.repeatCode ?? '') : [];
	}

	/**
	 * Waits until nobody else here makes the same, and looks for what was made.
	 *
	 * @param signal cancels waiting
	 * @param isAhead whether n8n's database is asked, too, which the claim does otherwise
	 * @returns what exists
	 * @throws NotSentError if it is in doubt, and no code allows it
	 */
	readonly look = async (signal: AbortSignal, isAhead = false): Promise<T | undefined> => {
		const { creation, identity } = this;
		this.release = await lockKeys(identity.ledgerKeys, signal);
		this.known = await findEarlier(creation, identity);
		const { found, voided } = this.known;
		if (found) return await this.give(found);
		const isAsked = this.hashes.length > 0 || (isAhead && !voided);
		const { doubts = isAsked ? await this.recorded() : undefined } = this.known;
		const named = doubts && (await this.named(doubts));
		if (named !== undefined) return named;
		if (voided || !doubts || (await this.turnFor(doubts)) !== undefined) return undefined;
		throw await this.refusal(doubts);
	};

	/** Takes it just before a request is sent. If that fails, nothing of it is left. */
	readonly take = async (): Promise<void> => {
		const { known } = this;
		// Used once: after a 429 another process may have made it meanwhile.
		this.known = {};
		await this.enter(known).catch(async (error: unknown) => {
			await this.withdraw();
			await this.turns.giveBack();
			throw error;
		});
		this.remember(this.identity.ledgerKeys, this.attempt('inDoubt'));
		this.isTaken = true;
	};

	/**
	 * What is given again is known from now on by all that it was asked by.
	 *
	 * @throws NotSentError if it was given under another Order Reference before a restart
	 */
	private async give({ made, earlier }: Found<T>): Promise<T> {
		const { creation, identity, ledger, owner } = this;
		const { order, lastingKeys } = identity;
		const { orderReference = earlier.orderReference } = creation;
		if (order !== undefined && earlier.orderReference === undefined) {
			const key = madeKey(creation.account, earlier.result?.hash);
			const isFree = (await ledger?.enter(key, order)) ?? true;
			if (!isFree) throw otherReference(creation, earlier);
		}
		for (const key of lastingKeys) await ledger?.enter(key, owner);
		// The order may be that of somebody else, though this was made here.
		const isOwn = (recall(order)?.fingerprint ?? earlier.fingerprint) === earlier.fingerprint;
		const turn = earlier.orderReference === undefined ? this.repeatCodes.latest : earlier.turn;
		const keys = isOwn ? lastingKeys : [identity.place];
		this.remember(keys, { ...earlier, orderReference, turn });
		return made;
	}

	/** What n8n's database alone knows to be in doubt. */
	private async recorded(): Promise<Doubt[] | undefined> {
		const seen: string[] = [];
		for (const key of this.identity.ledgerKeys) if (await this.ledger?.has(key)) seen.push(key);
		const told = this.toldBy(seen);
		return told.length > 0 ? told : undefined;
	}

	/** What the user says is the one in doubt: it is known from now on, and its doubt is over. */
	private async named(doubts: Doubt[]): Promise<T | undefined> {
		const { creation, identity, ledger } = this;
		const same = compact(doubts.map(({ isSame, attempt }) => isSame && attempt));
		for (const hash of this.hashes) {
			const made = await this.readNamed(hash, same);
			if (made === undefined) continue;
			const result = creation.keep(made);
			const orderReference = same.find((attempt) => attempt.orderReference)?.orderReference;
			const earlier = { ...this.attempt('made', result), orderReference };
			await this.give({ made, earlier });
			// The executions that asked for it know it, too.
			for (const attempt of same) Object.assign(attempt, { state: 'made', result });
			forget([identity.doubt]);
			await ledger?.clear([identity.doubt]);
			await this.repeatCodes.spend();
			return made;
		}
		return undefined;
	}

	/** @returns undefined unless it may be what is asked for, as far as anybody knows */
	private async readNamed(hash: string, same: Attempt[]): Promise<T | undefined> {
		const { creation, ledger } = this;
		const { order } = this.identity;
		const key = madeKey(creation.account, hash);
		const known = compact([recall(key)]);
		if (known.some(({ fingerprint }) => fingerprint !== creation.fingerprint)) return undefined;
		if ([...known, ...same].some((one) => hasOtherReference(creation, one))) return undefined;
		// A hash that stays in the form is that of an earlier charge, or of another item.
		const isOlder = ({ startedAt }: Attempt): boolean =>
			known.some((one) => one.startedAt < startedAt);
		if (same.some(isOlder) || creation.memory.isOfOther(this.identity.spot, hash)) return undefined;
		const made = await creation.again({ hash }).catch((error: unknown) => {
			if (error instanceof ServiceError) return undefined;
			throw error;
		});
		if (made === undefined || creation.isVoid(made) || !creation.fits?.(made)) return undefined;
		const isFree = order === undefined || !ledger || (await ledger.enter(key, order));
		return isFree ? made : undefined;
	}

	/** It was not processed, and will be sent again: until then another may take the keys, and its code stays used. */
	async pause(): Promise<void> {
		this.turns.useUp();
		await this.forget();
	}

	/** Whether this process knew its hash before it was made. */
	knows(made: T): boolean {
		const { account, keep } = this.creation;
		return recall(madeKey(account, keep(made).hash)) !== undefined;
	}

	/** Its doubt is over; what it made is known from now on, unless that is void at once. */
	async made(made: T): Promise<void> {
		const { creation, identity } = this;
		if (creation.isVoid(made)) return await this.forget();
		this.remember(identity.lastingKeys, this.attempt('made', creation.keep(made)));
		forget([identity.doubt]);
		await this.ledger?.release([identity.doubt], this.owner);
	}

	/**
	 * If a request was under way, its keys go only if it was certainly not made.
	 *
	 * @returns what to tell
	 */
	async failed(error: unknown): Promise<unknown> {
		if (error instanceof LedgerError) return notRecorded(this.creation, error.message);
		if (!this.isTaken) return error;
		if (isProvablyNotMade(error)) await this.forget();
		else await this.keepDoubt();
		return error;
	}

	/** Enters the keys, or refuses what is in doubt, unless a turn is taken that allows all of it. */
	private async enter({ doubts = [], voided }: Known<T>): Promise<void> {
		const { creation, identity } = this;
		const seen = await this.enterKeys();
		const toldBesides = (keys: string[]): Doubt[] => this.toldBy(difference(seen, keys));
		const keys = voided ? keysOf(creation, identity, voided) : [];
		const isFree = voided !== undefined && toldBesides(keys).length === 0;
		const told = isFree
			? [{ isSame: false, orderReference: voided.orderReference, keys }]
			: [...doubts, ...toldBesides(doubts.flatMap((doubt) => doubt.keys))];
		this.isTakenOver = isFree && (await this.takeOver(voided, keys));
		if (!this.isTakenOver) await this.takeTurn(told);
		if (seen.length > 0) {
			if (told.length > 0) this.lifted.push(...seen);
			await this.enterAgain(seen).catch((error: unknown) => {
				// What kept others from charging may be gone.
				this.turns.useUp();
				throw error;
			});
		}
		if (creation.oneByOne.isOver) throw new CanceledError();
	}

	/** @returns the keys that others have */
	private async enterKeys(): Promise<string[]> {
		const { ledger, identity, owner, own } = this;
		return (await ledger?.claim(identity.ledgerKeys, owner, own)) ?? [];
	}

	/** Enters the keys that others had under its own name: their owner may end meanwhile. */
	private async enterAgain(seen: string[]): Promise<void> {
		await this.ledger?.clear(seen);
		const others = await this.enterKeys();
		if (others.length === 0) return;
		const told = this.toldBy(others);
		// Of a place alone nothing is told outside of a Retry, but it is refused.
		throw await this.refusal(told.length > 0 ? told : [{ isSame: false, keys: [] }]);
	}

	/** What the keys tell that n8n's database had: a place does so only in a Retry. */
	private toldBy(seen: readonly string[]): Doubt[] {
		const { context, about, orderReference } = this.creation;
		const { place, order, doubt } = this.identity;
		// They need not be of one attempt.
		const told: Doubt[] = [];
		if (seen.includes(doubt) || (seen.includes(place) && isRetry(context))) {
			told.push({ isSame: true, about, keys: [doubt] });
		}
		if (order !== undefined && seen.includes(order)) {
			told.push({ isSame: false, orderReference, keys: [order] });
		}
		return told;
	}

	/**
	 * What is void guards nothing any more: the next turn is this one's, unless another process has made
	 * it again since, which is then in doubt.
	 */
	private async takeOver({ result, turn }: Attempt, keys: string[]): Promise<boolean> {
		const { order = '', doubt } = this.identity;
		const isOrder = keys.includes(order);
		// Without an order each transaction has a row of its own, in which a code that replaced it is not.
		if (!isOrder) {
			if (await this.repeatCodes.isTaken(turn + 1)) return false;
			this.turns = new RepeatCodes(String(result?.hash), doubt, this.ledger);
		}
		return await this.turns.take(isOrder ? turn + 1 : 1);
	}

	/** Takes the turn that a code allows, or refuses what is in doubt. It is used up only if it is about to be sent. */
	private async takeTurn(doubts: Doubt[]): Promise<void> {
		this.turns = this.repeatCodes;
		const turn = await this.turnFor(doubts);
		// A code that was not needed is used up as well.
		const isTaken = turn !== undefined && (await this.turns.take(turn));
		if (doubts.length > 0 && !isTaken) throw await this.refusal(doubts);
	}

	private async turnFor(doubts: Doubt[]): Promise<number | undefined> {
		const { repeatCode } = this.creation;
		if (repeatCode === undefined) return undefined;
		return await this.repeatCodes.allowedBy(repeatCode, this.toldOf(doubts));
	}

	private toldOf(doubts: Doubt[]): Told[] {
		const { order = '' } = this.identity;
		return doubts.flatMap(({ isSame, keys }): Told[] => {
			const isOrder = keys.includes(order);
			if (!isSame) return [isOrder ? 'order' : 'other'];
			return isOrder ? ['same', 'order'] : ['same'];
		});
	}

	private async refusal(doubts: Doubt[]): Promise<NotSentError> {
		// What may exist is told even if n8n's database gives no code for it.
		const code = await this.repeatCodes.nextCode(this.toldOf(doubts)).catch(() => undefined);
		const { creation } = this;
		const { context, kind, about } = creation;
		if (code !== undefined && isTool(context)) {
			context.logger.warn(`The code for a ${kind} in doubt (${about}) is ${code}.`);
		}
		return inDoubt(creation, doubts, code);
	}

	private attempt(state: Attempt['state'], result?: IDataObject): Attempt {
		const { account, fingerprint, typed, goods, customer, about, orderReference } = this.creation;
		const { latest: turn } = this.repeatCodes;
		const asked = { fingerprint, typed, goods, customer, about, orderReference };
		return { ...asked, state, account: account.key, startedAt: clock.now(), turn, result };
	}

	/** Remembers an attempt in the execution and, under these keys, in the process. */
	private remember(keys: string[], attempt: Attempt): void {
		const { memory, itemIndex: item, account } = this.creation;
		const { spot, call } = this.identity;
		const { result } = attempt;
		memory.set(spot, { run: memory.run(), item }, attempt);
		learn(compact([...keys, call, result && madeKey(account, result.hash)]), attempt);
	}

	/** It was not made. What a code has lifted stays in doubt: somebody may be making it. */
	private async forget(): Promise<void> {
		const { ledgerKeys, call, spot } = this.identity;
		this.isTaken = false;
		this.creation.memory.delete(spot);
		forget(compact([...ledgerKeys, call]));
		if (this.isTakenOver) this.lifted = [];
		await this.withdraw();
	}

	/** Takes out what it has entered; what was there before stays. */
	private async withdraw(): Promise<void> {
		const own = difference(this.own.splice(0), this.lifted);
		await this.ledger?.release(own, this.owner);
	}

	/** Another may have lifted it by a code while it was under way. */
	private async keepDoubt(): Promise<void> {
		for (const key of this.identity.ledgerKeys) {
			await this.ledger?.enter(key, this.owner).catch(() => undefined);
		}
	}
}

/** Any unforeseen error after the request may have left keeps the outcome in doubt. */
function isProvablyNotMade(error: unknown): boolean {
	if (error instanceof CanceledError) return true;
	return error instanceof ServiceError && !error.isInDoubt;
}
