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
import { unrecordedError, type Unresolved } from './refusals';
import { buildAttempt, recordAttempt, replayExisting, replayEnteredHash } from './replay';
import { findAllowedPosition, buildErrorWithCode, buildUnresolved } from './unresolved';

/** Claims the keys of one creation in the process, the execution and n8n's database. */
export class Claim<T> {
	private readonly keyed: KeyedCreation<T>;
	/** The sequence of a void result, whose first position goes to the only claim that replaces the result. */
	private voidSequence?: OverrideCodes;
	private earlier: EarlierAttempts<T> = {};
	private ownKeys: string[] = [];
	private overriddenKeys: string[] = [];
	private replacesVoid = false;
	private isInFlight = false;
	unlock: () => void = () => undefined;

	constructor(private readonly creation: Creation<T>) {
		const keys = makeKeys(creation);
		const ledger = Ledger.forContext(creation.context);
		const { orderKey, unresolvedKey, requestKey } = keys;
		const codes = new OverrideCodes(orderKey ?? unresolvedKey, requestKey, ledger);
		this.keyed = { creation, keys, ledger, codes, owner: digest(randomUUID()) };
	}

	/**
	 * @param options whether to ask n8n's database now, before `acquireKeys` does
	 * @throws NotSentError if an outcome is unknown, and no code allows another attempt
	 */
	readonly lockAndFindExisting = async (
		signal: AbortSignal,
		{ asksLedger = false } = {},
	): Promise<T | undefined> => {
		const { creation, keyed } = this;
		this.unlock = await lockKeys(keyed.keys.ledgerKeys, signal);
		await this.forgetEndedDoubt();
		this.earlier = await findEarlierAttempts(creation, keyed.keys);
		const { existing, voided } = this.earlier;
		if (existing) return await replayExisting(keyed, existing);
		const needsLedger = hasEnteredHash(creation) || (asksLedger && !voided);
		const unresolved =
			this.earlier.unresolved ?? (needsLedger ? await this.findUnresolvedInLedger() : []);
		if (unresolved.length === 0) return undefined;
		const { made, unreadable, differences } = await replayEnteredHash(keyed, unresolved);
		if (made !== undefined || voided) return made;
		if ((await findAllowedPosition(keyed, unresolved)) !== undefined) return undefined;
		throw unreadable ?? (await buildErrorWithCode(keyed, unresolved, differences));
	};

	readonly acquireKeys = async (): Promise<void> => {
		const { keyed } = this;
		await this.claimOrRefuse().catch(async (error: unknown) => {
			await this.releaseKeys();
			await this.keyed.codes.releasePosition();
			await this.voidSequence?.releasePosition();
			throw error;
		});
		recordAttempt(keyed, keyed.keys.ledgerKeys, buildAttempt(keyed, 'unresolved'));
		this.isInFlight = true;
	};

	/** The service did not process the request, but an entered code stays spent. */
	async releaseBetweenTries(): Promise<void> {
		this.keyed.codes.keepPosition();
		this.voidSequence?.keepPosition();
		// By the next try, the earlier attempts may have changed.
		this.earlier = {};
		await this.discardAttempt();
	}

	knowsHashOf(made: T): boolean {
		const { account, toStoredResult } = this.creation;
		return findAttempt(resultKey(account, toStoredResult(made).hash)) !== undefined;
	}

	async recordResult(made: T): Promise<void> {
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

	/** @returns the error to show */
	async endAfterError(error: unknown): Promise<unknown> {
		if (error instanceof LedgerError) return unrecordedError(this.creation, error.message);
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
		return buildUnresolved(this.keyed, claimed);
	}

	private async claimOrRefuse(): Promise<void> {
		const { creation, keyed } = this;
		const { unresolved = [], voided } = this.earlier;
		const othersKeys = await this.claimInLedger();
		const unresolvedExcept = (knownKeys: string[]): Unresolved[] =>
			buildUnresolved(keyed, difference(othersKeys, knownKeys));
		const voidedKeys = voided ? keysOfAttempt(creation, keyed.keys, voided) : [];
		const isOnlyVoid = voided !== undefined && unresolvedExcept(voidedKeys).length === 0;
		const blocking = isOnlyVoid
			? [{ isSame: false, orderReference: voided.orderReference, keys: voidedKeys }]
			: [...unresolved, ...unresolvedExcept(unresolved.flatMap(({ keys }) => keys))];
		this.replacesVoid = isOnlyVoid && (await this.replaceVoid(voided, voidedKeys));
		if (!this.replacesVoid) await this.takeAllowedPosition(blocking);
		if (othersKeys.length > 0) {
			if (blocking.length > 0) this.overriddenKeys.push(...othersKeys);
			await this.takeOverKeys(othersKeys).catch((error: unknown) => {
				// The others' keys may be deleted, so the code must not work again.
				this.keyed.codes.keepPosition();
				throw error;
			});
		}
		if (creation.itemOrder.mustNotSend) throw new CanceledError();
	}

	private async claimInLedger(): Promise<string[]> {
		const { ledger, keys, owner } = this.keyed;
		return (await ledger?.claimKeys(keys.ledgerKeys, owner, this.ownKeys)) ?? [];
	}

	private async takeOverKeys(othersKeys: string[]): Promise<void> {
		await this.keyed.ledger?.deleteKeys(othersKeys);
		// Another request may claim a key in between.
		const lostKeys = await this.claimInLedger();
		if (lostKeys.length === 0) return;
		const unresolved = buildUnresolved(this.keyed, lostKeys);
		// Outside a Retry `buildUnresolved` omits the slot, but the slot blocks the charge.
		throw await buildErrorWithCode(
			this.keyed,
			unresolved.length > 0 ? unresolved : [{ isSame: false, keys: [] }],
		);
	}

	/** @returns false if another process took the position, with an outcome that is unknown here */
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

	/** Spends an entered code even if nothing blocks the request. */
	private async takeAllowedPosition(blocking: Unresolved[]): Promise<void> {
		const position = await findAllowedPosition(this.keyed, blocking);
		const isAllowed = position !== undefined && (await this.keyed.codes.takePosition(position));
		if (blocking.length > 0 && !isAllowed) throw await buildErrorWithCode(this.keyed, blocking);
	}

	/** Overridden keys stay, because the request that had them may be in flight. */
	private async discardAttempt(): Promise<void> {
		const { ledgerKeys, agentCallKey, itemKey } = this.keyed.keys;
		this.isInFlight = false;
		this.creation.memory.deleteAttempt(itemKey);
		forgetKeys(compact([...ledgerKeys, agentCallKey]));
		if (this.replacesVoid) this.overriddenKeys = [];
		await this.releaseKeys();
	}

	private async releaseKeys(): Promise<void> {
		const { ledger, owner } = this.keyed;
		await ledger?.releaseKeys(difference(this.ownKeys.splice(0), this.overriddenKeys), owner);
	}

	/** A request with a code may have taken the keys over and released them. */
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
