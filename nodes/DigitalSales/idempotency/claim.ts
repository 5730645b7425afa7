import { randomUUID } from 'crypto';
import compact from 'lodash/compact';
import difference from 'lodash/difference';
import { ServiceError } from '../api/serviceError';
import { LedgerError } from '../n8n/processedItems';
import { isTool } from '../n8n/tool';
import { CanceledError } from '../shared/clock';
import { digest } from '../shared/digest';
import { lockKeys } from '../shared/lock';
import { type Attempt, findAttempt, forgetKeys } from './attempts';
import type { Creation, KeyedCreation } from './creation';
import {
	buildUnresolved,
	type EarlierAttempts,
	findEarlierAttempts,
	keysOfAttempt,
} from './earlier';
import { makeKeys, resultKey } from './keys';
import { Ledger } from './ledger';
import { listDescribed, OverrideCodes, parseHashes } from './overrideCodes';
import { unrecordedError, type Unresolved, unresolvedError } from './refusals';
import { buildAttempt, recordAttempt, recordExisting, replayEnteredHash } from './replay';

/** Claims the keys of one creation in the process, the execution and n8n's database. */
export class Claim<T> {
	readonly creation: KeyedCreation<T>;
	/** Each void result has a sequence. The request that takes its position 1 may replace the result. */
	private voidSequence?: OverrideCodes;
	private earlier: EarlierAttempts<T> = { unresolved: [], voids: [] };
	private ownKeys: string[] = [];
	private overriddenKeys: string[] = [];
	private replacesVoid = false;
	private isInFlight = false;
	unlock: () => void = () => undefined;

	constructor(request: Creation<T>) {
		const keys = makeKeys(request);
		const ledger = Ledger.forContext(request.context);
		const codes = new OverrideCodes(keys.orderKey ?? keys.unresolvedKey, keys.requestKey, ledger);
		this.creation = { ...request, ...keys, ledger, codes, owner: digest(randomUUID()) };
	}

	/**
	 * @param options whether to ask n8n's database now, before `acquireKeys` does
	 * @throws NotSentError if an outcome is unknown, and no code allows another attempt
	 */
	readonly lockAndFindExisting = async (
		signal: AbortSignal,
		{ asksLedger = false } = {},
	): Promise<T | undefined> => {
		const { creation } = this;
		this.unlock = await lockKeys(creation.ledgerKeys, signal);
		await this.forgetEndedDoubt();
		this.earlier = await findEarlierAttempts(creation);
		const { existing, voids } = this.earlier;
		if (existing) {
			await recordExisting(creation, existing.earlier);
			await this.endVoids(voids);
			return existing.made;
		}
		const { findDifferences, enteredCodes = '' } = creation;
		const hasEnteredHash = findDifferences !== undefined && parseHashes(enteredCodes).length > 0;
		let { unresolved } = this.earlier;
		const isVoid = unresolved.length === 0 && voids.length > 0;
		const needsLedger = hasEnteredHash || (asksLedger && !isVoid);
		if (unresolved.length === 0 && needsLedger) unresolved = await this.findUnresolvedInLedger();
		if (unresolved.length === 0) return undefined;
		const { made, unreadable, differences } = await replayEnteredHash(creation, unresolved);
		if (made !== undefined) await this.endVoids(voids);
		if (made !== undefined || isVoid) return made;
		if ((await this.findAllowedPosition(unresolved)) !== undefined) return undefined;
		throw unreadable ?? (await this.buildErrorWithCode(unresolved, differences));
	};

	readonly acquireKeys = async (): Promise<void> => {
		const { creation } = this;
		await this.claimOrRefuse().catch(async (error: unknown) => {
			await this.releaseKeys();
			await creation.codes.releasePosition();
			await this.voidSequence?.releasePosition();
			throw error;
		});
		recordAttempt(creation, creation.ledgerKeys, buildAttempt(creation, 'unresolved'));
		this.isInFlight = true;
	};

	/** The service did not process the request, but an entered code stays spent. */
	async releaseBetweenTries(): Promise<void> {
		this.creation.codes.keepPosition();
		this.voidSequence?.keepPosition();
		// By the next try, the earlier attempts may have changed.
		this.earlier = { unresolved: [], voids: [] };
		await this.discardAttempt();
	}

	knowsHashOf(made: T): boolean {
		const { account, toStoredResult } = this.creation;
		return findAttempt(resultKey(account, toStoredResult(made).hash)) !== undefined;
	}

	async recordResult(made: T): Promise<void> {
		const { creation } = this;
		const { account, unresolvedKey, orderKey, lastingKeys, ledger, owner } = creation;
		if (creation.isVoid(made)) return await this.discardAttempt();
		const result = creation.toStoredResult(made);
		recordAttempt(creation, lastingKeys, buildAttempt(creation, 'made', result));
		forgetKeys([unresolvedKey]);
		await ledger?.releaseKeys([unresolvedKey], owner);
		if (orderKey === undefined) return;
		// Keeps the hash from being entered for another order after a restart.
		await ledger?.claimKey(resultKey(account, result.hash), orderKey).catch(() => false);
	}

	/** @returns the error to show */
	async endAfterError(error: unknown): Promise<unknown> {
		if (error instanceof LedgerError) return unrecordedError(this.creation, error.message);
		if (!this.isInFlight) return error;
		const isRefused = error instanceof ServiceError && !error.isInDoubt;
		// After an unexpected error the outcome is unknown.
		if (isRefused || error instanceof CanceledError) await this.discardAttempt();
		else await this.restoreKeys();
		return error;
	}

	/** Another process may have ended a doubt that this one remembers. */
	private async forgetEndedDoubt(): Promise<void> {
		const { unresolvedKey, ledger } = this.creation;
		if (!ledger || findAttempt(unresolvedKey) === undefined) return;
		const isOpen = await ledger.hasKey(unresolvedKey).catch(() => true);
		if (!isOpen) forgetKeys([unresolvedKey]);
	}

	private async findUnresolvedInLedger(): Promise<Unresolved[]> {
		const { creation } = this;
		const claimed: string[] = [];
		for (const key of creation.ledgerKeys) {
			if (await creation.ledger?.hasKey(key)) claimed.push(key);
		}
		return buildUnresolved(creation, claimed);
	}

	private async claimOrRefuse(): Promise<void> {
		const { creation } = this;
		const { unresolved, voids } = this.earlier;
		const voided = unresolved.length > 0 ? undefined : voids.at(-1);
		const othersKeys = await this.claimInLedger();
		const unresolvedExcept = (knownKeys: string[]): Unresolved[] =>
			buildUnresolved(creation, difference(othersKeys, knownKeys));
		const voidedKeys = voided ? voids.flatMap((each) => keysOfAttempt(creation, each)) : [];
		const isOnlyVoid = voided !== undefined && unresolvedExcept(voidedKeys).length === 0;
		const blocking = isOnlyVoid
			? [{ isSame: false, orderReference: voided.orderReference, keys: voidedKeys }]
			: [...unresolved, ...unresolvedExcept(unresolved.flatMap(({ keys }) => keys))];
		this.replacesVoid =
			isOnlyVoid &&
			(await this.isSlotOfVoids(othersKeys)) &&
			(await this.takeVoidPosition(voided, voidedKeys));
		if (!this.replacesVoid) await this.takeAllowedPosition(blocking);
		await this.endVoids(voids);
		if (othersKeys.length > 0) {
			if (blocking.length > 0) this.overriddenKeys.push(...othersKeys);
			await this.takeOverKeys(othersKeys).catch((error: unknown) => {
				// The others' keys may be deleted, so the code must not work again.
				creation.codes.keepPosition();
				this.voidSequence?.keepPosition();
				throw error;
			});
		}
		if (creation.itemOrder.mustNotSend) throw new CanceledError();
	}

	/**
	 * Claims keys in order until another owner has one, so that of two concurrent requests one gets all keys.
	 *
	 * @returns the keys that another owner has
	 */
	private async claimInLedger(): Promise<string[]> {
		const { ledger, ledgerKeys, owner } = this.creation;
		const othersKeys: string[] = [];
		if (!ledger) return othersKeys;
		for (const key of ledgerKeys) {
			if (othersKeys.length > 0) {
				if (await ledger.hasKey(key)) othersKeys.push(key);
			} else if (await ledger.claimKey(key, owner)) this.ownKeys.push(key);
			else othersKeys.push(key);
		}
		return othersKeys;
	}

	private async takeOverKeys(othersKeys: string[]): Promise<void> {
		const { creation } = this;
		await creation.ledger?.deleteKeys(othersKeys);
		// Another request may claim a key in between.
		const lostKeys = await this.claimInLedger();
		if (lostKeys.length === 0) return;
		const unresolved = buildUnresolved(creation, lostKeys);
		// Outside a Retry `buildUnresolved` omits the slot, but the slot blocks the charge.
		throw await this.buildErrorWithCode(
			unresolved.length > 0 ? unresolved : [{ isSame: false, keys: [] }],
		);
	}

	/** @returns false if another request has taken a position to replace the result */
	private async takeVoidPosition(voided: Attempt, voidedKeys: string[]): Promise<boolean> {
		const { codes, orderKey } = this.creation;
		const { position } = voided;
		// Then only a code helps: `takeAllowedPosition` takes the next position.
		if (await codes.isPositionTaken(position + 1)) return false;
		// Of two Retries that replace one result, only one may have the order.
		this.voidSequence = this.makeVoidSequence(voided);
		if (!(await this.voidSequence.takePosition(1))) return false;
		const isOfOrder = voidedKeys.includes(orderKey ?? '');
		return !isOfOrder || (await codes.takePosition(position + 1));
	}

	/** Another process may have charged the slot since, by a code. */
	private async isSlotOfVoids(othersKeys: string[]): Promise<boolean> {
		const { ledger, slotKey } = this.creation;
		if (!othersKeys.includes(slotKey)) return true;
		for (const { id } of this.earlier.voids) if (await ledger?.claimKey(slotKey, id)) return true;
		return false;
	}

	/** Another process that knows only a void result must not replace it. */
	private async endVoids(voids: Attempt[]): Promise<void> {
		for (const voided of voids) await this.makeVoidSequence(voided).takePosition(1);
	}

	private makeVoidSequence({ result }: Attempt): OverrideCodes {
		const { requestKey, ledger } = this.creation;
		return new OverrideCodes(String(result?.hash), requestKey, ledger);
	}

	/** Spends an entered code even if nothing blocks the request. */
	private async takeAllowedPosition(blocking: Unresolved[]): Promise<void> {
		const position = await this.findAllowedPosition(blocking);
		const isAllowed = position !== undefined && (await this.creation.codes.takePosition(position));
		if (blocking.length > 0 && !isAllowed) throw await this.buildErrorWithCode(blocking);
	}

	private async findAllowedPosition(unresolved: Unresolved[]): Promise<number | undefined> {
		const { codes, enteredCodes, orderKey } = this.creation;
		if (enteredCodes === undefined) return undefined;
		return await codes.findAllowedPosition(enteredCodes, listDescribed(unresolved, orderKey));
	}

	private async buildErrorWithCode(unresolved: Unresolved[], differences?: string[]) {
		const { creation } = this;
		const { codes, orderKey, context, kind, about } = creation;
		const code = await codes.nextCode(listDescribed(unresolved, orderKey)).catch(() => undefined);
		if (code !== undefined && isTool(context)) {
			context.logger.warn(`The code for a ${kind} in doubt (${about}) is ${code}.`);
		}
		return unresolvedError(creation, unresolved, code, differences);
	}

	/** Keys that a code has overridden stay, because their request may be in flight. */
	private async discardAttempt(): Promise<void> {
		const { ledgerKeys, agentCallKey, itemKey, memory } = this.creation;
		this.isInFlight = false;
		memory.deleteAttempt(itemKey);
		forgetKeys(compact([...ledgerKeys, agentCallKey]));
		if (this.replacesVoid) this.overriddenKeys = [];
		await this.releaseKeys();
	}

	private async releaseKeys(): Promise<void> {
		const { ledger, owner } = this.creation;
		await ledger?.releaseKeys(difference(this.ownKeys.splice(0), this.overriddenKeys), owner);
	}

	/** A request with a code may have taken the keys over and released them. */
	private async restoreKeys(): Promise<void> {
		const { ledgerKeys, ledger, owner } = this.creation;
		for (const key of ledgerKeys) await ledger?.claimKey(key, owner).catch(() => undefined);
	}
}
