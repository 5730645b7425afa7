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
import { buildAttempt, recordAttempt, replayExisting, replayEnteredHash } from './replay';
import { findAllowedPosition, refuseWithCode, findUnresolved } from './unresolved';

/** Claims the idempotency keys of one creation in the process, the execution and n8n's database. */
export class Claim<T> {
	private readonly keyed: KeyedCreation<T>;
	/** The sequence of a void result, whose first position goes to the only claim that replaces the result. */
	private voidSequence?: OverrideCodes;
	private earlier: EarlierAttempts<T> = {};
	/** The keys that this claim has added to the ledger. */
	private ownKeys: string[] = [];
	/** The keys that this claim took over from an unresolved attempt, because a code allowed it. */
	private overriddenKeys: string[] = [];
	/** Whether the claim replaces a void result, which needs no code. */
	private replacesVoid = false;
	private isInFlight = false;
	/** Lets other items of this process claim the same keys. */
	unlock: () => void = () => undefined;

	constructor(private readonly creation: Creation<T>) {
		const keys = makeKeys(creation);
		const ledger = Ledger.forContext(creation.context);
		const { orderKey, unresolvedKey, requestKey } = keys;
		const codes = new OverrideCodes(orderKey ?? unresolvedKey, requestKey, ledger);
		this.keyed = { creation, keys, ledger, codes, owner: digest(randomUUID()) };
	}

	/**
	 * Locks the keys within this process, then looks for earlier attempts.
	 *
	 * @param signal cancels the waiting for the lock
	 * @param isAhead whether to ask n8n's database now. Otherwise `acquireKeys` does.
	 * @returns the existing result
	 * @throws NotSentError if an outcome is unknown, and no code allows another attempt
	 */
	readonly findExisting = async (signal: AbortSignal, isAhead = false): Promise<T | undefined> => {
		const { creation, keyed } = this;
		this.unlock = await lockKeys(keyed.keys.ledgerKeys, signal);
		await this.forgetEndedDoubt();
		this.earlier = await findEarlierAttempts(creation, keyed.keys);
		const { existing, voided } = this.earlier;
		if (existing) return await replayExisting(keyed, existing);
		const needsLedger = hasEnteredHash(creation) || (isAhead && !voided);
		const unresolved =
			this.earlier.unresolved ?? (needsLedger ? await this.findUnresolvedInLedger() : []);
		if (unresolved.length === 0) return undefined;
		const { made, unreadable, differences } = await replayEnteredHash(keyed, unresolved);
		if (made !== undefined || voided) return made;
		if ((await findAllowedPosition(keyed, unresolved)) !== undefined) return undefined;
		throw unreadable ?? (await refuseWithCode(keyed, unresolved, differences));
	};

	/** Claims the keys just before a request is sent. If that fails, releases them. */
	readonly acquireKeys = async (): Promise<void> => {
		const { earlier, keyed } = this;
		// The earlier attempts may be out of date when `acquireKeys` runs again after a 429.
		this.earlier = {};
		await this.claimOrRefuse(earlier).catch(async (error: unknown) => {
			await this.releaseKeys();
			await this.keyed.codes.releasePosition();
			await this.voidSequence?.releasePosition();
			throw error;
		});
		recordAttempt(keyed, keyed.keys.ledgerKeys, buildAttempt(keyed, 'unresolved'));
		this.isInFlight = true;
	};

	/** Releases the keys between two tries, because the service did not process the request. A code stays spent. */
	async suspend(): Promise<void> {
		this.keyed.codes.keepPosition();
		this.voidSequence?.keepPosition();
		await this.discardAttempt();
	}

	/** Whether this process already knows the hash of a result. */
	knowsHashOf(made: T): boolean {
		const { account, toStoredResult } = this.creation;
		return findAttempt(resultKey(account, toStoredResult(made).hash)) !== undefined;
	}

	/** Records the result, unless it is void already. */
	async complete(made: T): Promise<void> {
		const { creation, keyed } = this;
		const { keys, ledger, owner } = keyed;
		if (creation.isVoid(made)) return await this.discardAttempt();
		const result = creation.toStoredResult(made);
		recordAttempt(keyed, keys.lastingKeys, buildAttempt(keyed, 'made', result));
		forgetKeys([keys.unresolvedKey]);
		await ledger?.releaseKeys([keys.unresolvedKey], owner);
		const { orderKey } = keys;
		if (!ledger || orderKey === undefined) return;
		// After a restart, nobody can enter the hash for another order.
		await ledger.claimKey(resultKey(creation.account, result.hash), orderKey).catch(() => false);
	}

	/**
	 * Ends the claim after an error. Keeps the keys if a request was sent and may have been processed.
	 *
	 * @returns the error to show
	 */
	async fail(error: unknown): Promise<unknown> {
		if (error instanceof LedgerError) return refuseUnrecorded(this.creation, error.message);
		if (!this.isInFlight) return error;
		if (isCertainlyNotMade(error)) await this.discardAttempt();
		else await this.restoreKeys();
		return error;
	}

	/** Another process may have ended a doubt that this one remembers. */
	private async forgetEndedDoubt(): Promise<void> {
		const { keys, ledger } = this.keyed;
		if (!ledger || findAttempt(keys.unresolvedKey) === undefined) return;
		const isOpen = await ledger.hasKey(keys.unresolvedKey).catch(() => true);
		if (!isOpen) forgetKeys([keys.unresolvedKey]);
	}

	private async findUnresolvedInLedger(): Promise<Unresolved[]> {
		const { keys, ledger } = this.keyed;
		const claimed: string[] = [];
		for (const key of keys.ledgerKeys) if (await ledger?.hasKey(key)) claimed.push(key);
		return findUnresolved(this.keyed, claimed);
	}

	/** Claims the keys, or refuses if an outcome is unknown and no code allows another attempt. */
	private async claimOrRefuse({ unresolved = [], voided }: EarlierAttempts<T>): Promise<void> {
		const { creation, keyed } = this;
		const othersKeys = await this.claimInLedger();
		const findUnresolvedExcept = (explained: string[]): Unresolved[] =>
			findUnresolved(keyed, difference(othersKeys, explained));
		const voidedKeys = voided ? keysOfAttempt(creation, keyed.keys, voided) : [];
		const isOnlyVoid = voided !== undefined && findUnresolvedExcept(voidedKeys).length === 0;
		const blocking = isOnlyVoid
			? [{ isSame: false, orderReference: voided.orderReference, keys: voidedKeys }]
			: [...unresolved, ...findUnresolvedExcept(unresolved.flatMap(({ keys }) => keys))];
		this.replacesVoid = isOnlyVoid && (await this.replaceVoid(voided, voidedKeys));
		if (!this.replacesVoid) await this.takeAllowedPosition(blocking);
		if (othersKeys.length > 0) {
			if (blocking.length > 0) this.overriddenKeys.push(...othersKeys);
			await this.takeOverKeys(othersKeys).catch((error: unknown) => {
				// The keys that kept other requests from charging may be gone.
				this.keyed.codes.keepPosition();
				throw error;
			});
		}
		if (creation.itemOrder.isSendingOver) throw new CanceledError();
	}

	/** @returns the keys that other owners have */
	private async claimInLedger(): Promise<string[]> {
		const { ledger, keys, owner } = this.keyed;
		return (await ledger?.claimKeys(keys.ledgerKeys, owner, this.ownKeys)) ?? [];
	}

	/** Deletes the keys of other owners and claims all keys again. */
	private async takeOverKeys(othersKeys: string[]): Promise<void> {
		await this.keyed.ledger?.deleteKeys(othersKeys);
		// Another request may have claimed a key in the meantime.
		const lostKeys = await this.claimInLedger();
		if (lostKeys.length === 0) return;
		const unresolved = findUnresolved(this.keyed, lostKeys);
		// Outside a Retry the error does not describe an occupied slot, but the slot blocks the charge.
		throw await refuseWithCode(
			this.keyed,
			unresolved.length > 0 ? unresolved : [{ isSame: false, keys: [] }],
		);
	}

	/**
	 * Takes the position after a void result, which blocks nothing.
	 *
	 * @returns false if another process has taken the position: the outcome of its request is unknown here
	 */
	private async replaceVoid({ result, position }: Attempt, voidedKeys: string[]): Promise<boolean> {
		const { ledger, codes, keys } = this.keyed;
		// A code takes its position elsewhere.
		if (await codes.isPositionTaken(position + 1)) return false;
		// Two Retries may replace one result, of which only one has the order.
		this.voidSequence = new OverrideCodes(String(result?.hash), keys.requestKey, ledger);
		if (!(await this.voidSequence.takePosition(1))) return false;
		const isOfOrder = voidedKeys.includes(keys.orderKey ?? '');
		return !isOfOrder || (await codes.takePosition(position + 1));
	}

	/** Takes the position that an entered code allows, even if nothing blocks the request, so that the code is spent. */
	private async takeAllowedPosition(blocking: Unresolved[]): Promise<void> {
		const position = await findAllowedPosition(this.keyed, blocking);
		const isAllowed = position !== undefined && (await this.keyed.codes.takePosition(position));
		if (blocking.length > 0 && !isAllowed) throw await refuseWithCode(this.keyed, blocking);
	}

	/** Removes the attempt, because nothing was made. Overridden keys stay, because their request may be in flight. */
	private async discardAttempt(): Promise<void> {
		const { ledgerKeys, agentCallKey, itemKey } = this.keyed.keys;
		this.isInFlight = false;
		this.creation.memory.deleteAttempt(itemKey);
		forgetKeys(compact([...ledgerKeys, agentCallKey]));
		if (this.replacesVoid) this.overriddenKeys = [];
		await this.releaseKeys();
	}

	/** Releases the keys that this claim has added. Keys that existed before stay. */
	private async releaseKeys(): Promise<void> {
		const { ledger, owner } = this.keyed;
		await ledger?.releaseKeys(difference(this.ownKeys.splice(0), this.overriddenKeys), owner);
	}

	/** Claims the keys again, because a request with a code may have taken them over and released them. */
	private async restoreKeys(): Promise<void> {
		const { keys, ledger, owner } = this.keyed;
		for (const key of keys.ledgerKeys) await ledger?.claimKey(key, owner).catch(() => undefined);
	}
}

function hasEnteredHash<T>({ findDifferences, enteredCodes = '' }: Creation<T>): boolean {
	return findDifferences !== undefined && parseHashes(enteredCodes).length > 0;
}

/** After an unexpected error the outcome is unknown. */
function isCertainlyNotMade(error: unknown): boolean {
	if (error instanceof CanceledError) return true;
	return error instanceof ServiceError && !error.isInDoubt;
}
