import { randomUUID } from 'crypto';
import compact from 'lodash/compact';
import difference from 'lodash/difference';
import { ServiceError } from '../api/serviceError';
import { LedgerError } from '../n8n/processedItems';
import { CanceledError } from '../shared/clock';
import { digest } from '../shared/digest';
import { lockKeys } from '../shared/lock';
import { type Attempt, findAttempt, forgetKeys } from './attempts';
import type { Creation, KeyedCreation } from './creation';
import { type EarlierAttempts, findEarlierAttempts, keysOfAttempt } from './earlier';
import { makeKeys, resultKey } from './keys';
import { Ledger } from './ledger';
import { OverrideCodes, parseHashes } from './overrideCodes';
import { refuseUnrecorded, type Unresolved } from './refusals';
import { attemptOf, remember, replay, replayEnteredHash } from './replay';
import { positionFor, refuse, unresolvedBy } from './unresolved';

/** The right to make something: its keys in the process, the execution and n8n's database. */
export class Claim<T> {
	private readonly keyed: KeyedCreation<T>;
	/** The sequence in which a position is taken: the one of the request, or of the void result that it replaces. */
	private sequence: OverrideCodes;
	private earlier: EarlierAttempts<T> = {};
	/** The keys that this claim has added to the ledger. */
	private own: string[] = [];
	/** Those of its keys that belonged to an earlier attempt, until a code allowed another one. */
	private overridden: string[] = [];
	/** Whether the earlier attempt is void, so that its keys need no code. */
	private replacesVoid = false;
	/** Whether a request may be in flight. */
	private isTaken = false;
	/** Lets other items of this process make the same. */
	release: () => void = () => undefined;

	constructor(private readonly creation: Creation<T>) {
		const keys = makeKeys(creation);
		const ledger = Ledger.of(creation.context);
		const { orderKey, unresolvedKey, requestKey } = keys;
		const codes = new OverrideCodes(orderKey ?? unresolvedKey, requestKey, ledger);
		this.keyed = { creation, keys, ledger, codes, owner: digest(randomUUID()) };
		this.sequence = codes;
	}

	/**
	 * Waits until no other item of this process makes the same, and looks for earlier attempts.
	 *
	 * @param signal cancels the waiting
	 * @param isAhead whether n8n's database is asked as well, which `take` does otherwise
	 * @returns the existing result
	 * @throws NotSentError if an outcome is unknown, and no code allows another attempt
	 */
	readonly look = async (signal: AbortSignal, isAhead = false): Promise<T | undefined> => {
		const { creation, keyed } = this;
		this.release = await lockKeys(keyed.keys.ledgerKeys, signal);
		await this.forgetEndedDoubt();
		this.earlier = await findEarlierAttempts(creation, keyed.keys);
		const { existing, voided } = this.earlier;
		if (existing) return await replay(keyed, existing);
		const needsLedger = hasEnteredHash(creation) || (isAhead && !voided);
		const unresolved = this.earlier.unresolved ?? (needsLedger ? await this.findInLedger() : []);
		if (unresolved.length === 0) return undefined;
		const { made, unreadable } = await replayEnteredHash(keyed, unresolved);
		if (made !== undefined || voided) return made;
		if ((await positionFor(keyed, unresolved)) !== undefined) return undefined;
		throw unreadable ?? (await refuse(keyed, unresolved));
	};

	/** Claims the keys just before a request is sent. If that fails, they are released. */
	readonly take = async (): Promise<void> => {
		const { earlier, keyed } = this;
		// After a 429 another process may have made it meanwhile, so this is used once.
		this.earlier = {};
		await this.claimKeys(earlier).catch(async (error: unknown) => {
			await this.releaseKeys();
			await this.sequence.releasePosition();
			throw error;
		});
		remember(keyed, keyed.keys.ledgerKeys, attemptOf(keyed, 'unresolved'));
		this.isTaken = true;
	};

	/** The request was not processed and will be sent again. Until then others may claim the keys. A code stays spent. */
	async pause(): Promise<void> {
		this.sequence.keepPosition();
		await this.forget();
	}

	/** Whether this process knew the hash before the request. */
	knowsHashOf(made: T): boolean {
		const { account, toStoredResult } = this.creation;
		return findAttempt(resultKey(account, toStoredResult(made).hash)) !== undefined;
	}

	/** The request succeeded. A result that is void at once is forgotten. */
	async complete(made: T): Promise<void> {
		const { creation, keyed } = this;
		const { keys, ledger, owner } = keyed;
		if (creation.isVoid(made)) return await this.forget();
		remember(keyed, keys.lastingKeys, attemptOf(keyed, 'made', creation.toStoredResult(made)));
		forgetKeys([keys.unresolvedKey]);
		await ledger?.releaseKeys([keys.unresolvedKey], owner);
	}

	/**
	 * If a request was in flight, the keys are released only if it certainly made nothing.
	 *
	 * @returns the error to show
	 */
	async fail(error: unknown): Promise<unknown> {
		if (error instanceof LedgerError) return refuseUnrecorded(this.creation, error.message);
		if (!this.isTaken) return error;
		if (isProvablyNotMade(error)) await this.forget();
		else await this.claimAgain();
		return error;
	}

	/** Another process may have ended a doubt that this one remembers. */
	private async forgetEndedDoubt(): Promise<void> {
		const { keys, ledger } = this.keyed;
		if (!ledger || findAttempt(keys.unresolvedKey) === undefined) return;
		const isOpen = await ledger.hasKey(keys.unresolvedKey).catch(() => true);
		if (!isOpen) forgetKeys([keys.unresolvedKey]);
	}

	private async findInLedger(): Promise<Unresolved[]> {
		const { keys, ledger } = this.keyed;
		const claimed: string[] = [];
		for (const key of keys.ledgerKeys) if (await ledger?.hasKey(key)) claimed.push(key);
		return unresolvedBy(this.keyed, claimed);
	}

	/** Claims the keys, or refuses if an outcome is unknown and no code allows another attempt. */
	private async claimKeys({ unresolved = [], voided }: EarlierAttempts<T>): Promise<void> {
		const { creation, keyed } = this;
		const claimed = await this.claimInLedger();
		const unresolvedExcept = (keys: string[]): Unresolved[] =>
			unresolvedBy(keyed, difference(claimed, keys));
		const ofVoided = voided ? keysOfAttempt(creation, keyed.keys, voided) : [];
		const isFree = voided !== undefined && unresolvedExcept(ofVoided).length === 0;
		const all = isFree
			? [{ isSame: false, orderReference: voided.orderReference, keys: ofVoided }]
			: [...unresolved, ...unresolvedExcept(unresolved.flatMap(({ keys }) => keys))];
		this.replacesVoid = isFree && (await this.replaceVoid(voided, ofVoided));
		if (!this.replacesVoid) await this.takeAllowedPosition(all);
		if (claimed.length > 0) {
			if (all.length > 0) this.overridden.push(...claimed);
			await this.takeOver(claimed).catch((error: unknown) => {
				// The keys that kept others from charging may be gone.
				this.sequence.keepPosition();
				throw error;
			});
		}
		if (creation.itemOrder.isSendingOver) throw new CanceledError();
	}

	/** @returns the keys that others have */
	private async claimInLedger(): Promise<string[]> {
		const { ledger, keys, owner } = this.keyed;
		return (await ledger?.claimKeys(keys.ledgerKeys, owner, this.own)) ?? [];
	}

	/** Claims the keys of others as well, because their owner may finish in the meantime. */
	private async takeOver(claimed: string[]): Promise<void> {
		await this.keyed.ledger?.deleteKeys(claimed);
		const others = await this.claimInLedger();
		if (others.length === 0) return;
		const unresolved = unresolvedBy(this.keyed, others);
		// Outside a Retry the error does not describe an occupied slot, but the slot blocks the charge.
		throw await refuse(
			this.keyed,
			unresolved.length > 0 ? unresolved : [{ isSame: false, keys: [] }],
		);
	}

	/**
	 * A void result blocks nothing, so this request takes the next position of its sequence.
	 *
	 * @returns false if another process has replaced it since: that outcome is unknown here
	 */
	private async replaceVoid({ result, position }: Attempt, keys: string[]): Promise<boolean> {
		const { ledger, codes, keys: own } = this.keyed;
		const isOrder = keys.includes(own.orderKey ?? '');
		// Without an order each transaction has a sequence of its own, which a code that replaced it does not count in.
		if (!isOrder) {
			if (await codes.isPositionTaken(position + 1)) return false;
			this.sequence = new OverrideCodes(String(result?.hash), own.requestKey, ledger);
		}
		return await this.sequence.takePosition(isOrder ? position + 1 : 1);
	}

	/** A code is spent even if it turns out not to be needed. */
	private async takeAllowedPosition(unresolved: Unresolved[]): Promise<void> {
		this.sequence = this.keyed.codes;
		const position = await positionFor(this.keyed, unresolved);
		const isAllowed = position !== undefined && (await this.sequence.takePosition(position));
		if (unresolved.length > 0 && !isAllowed) throw await refuse(this.keyed, unresolved);
	}

	/** Nothing was made. A key that a code has overridden stays, because somebody may be making it. */
	private async forget(): Promise<void> {
		const { ledgerKeys, agentCallKey, itemKey } = this.keyed.keys;
		this.isTaken = false;
		this.creation.memory.deleteAttempt(itemKey);
		forgetKeys(compact([...ledgerKeys, agentCallKey]));
		if (this.replacesVoid) this.overridden = [];
		await this.releaseKeys();
	}

	/** Removes what this claim has added. Keys that existed before stay. */
	private async releaseKeys(): Promise<void> {
		const { ledger, owner } = this.keyed;
		await ledger?.releaseKeys(difference(this.own.splice(0), this.overridden), owner);
	}

	/** Someone may have used a code to take over the keys while the request was in flight. */
	private async claimAgain(): Promise<void> {
		const { keys, ledger, owner } = this.keyed;
		for (const key of keys.ledgerKeys) await ledger?.claimKey(key, owner).catch(() => undefined);
	}
}

function hasEnteredHash<T>({ matchesRequest, enteredCodes = '' }: Creation<T>): boolean {
	return matchesRequest !== undefined && parseHashes(enteredCodes).length > 0;
}

/** Any unforeseen error after the request may have left keeps the outcome unknown. */
function isProvablyNotMade(error: unknown): boolean {
	if (error instanceof CanceledError) return true;
	return error instanceof ServiceError && !error.isInDoubt;
}
