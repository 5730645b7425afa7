import { randomUUID } from 'crypto';
import { compact, difference } from 'lodash';
import { ServiceError } from '../api';
import { Ledger, LedgerError } from '../n8n';
import { CanceledError, digest, lockKeys } from '../shared';
import { findAttempt, forgetKeys } from './attempts';
import type { Created, Creation, LedgerCreation } from './creation';
import { buildDoubts, keysOfAttempt } from './earlier';
import { parseHashes } from './enteredText';
import { resultKey } from './keys';
import { type Look, lookForEarlier, NOTHING_FOUND } from './look';
import { codeForPerson, errorWithCode, findAllowedPositions } from './overrideCodes';
import { KeySequences } from './positions';
import { buildAttempt, recordAttempt } from './record';
import { attemptNotRecordedError, type Doubt } from './refusals';

/** Claims the keys of one creation in the process, the execution and n8n's database. */
export class Claim<T> {
	readonly creation: LedgerCreation<T>;
	private found: Look<T> = NOTHING_FOUND;
	private ownKeys: string[] = [];
	private overriddenKeys: string[] = [];
	private replacesVoid = false;
	private replacedHash?: string;
	private isInFlight = false;
	unlock: () => void = () => undefined;

	constructor(creation: Creation<T>) {
		const { context, hashCheck, enteredText } = creation;
		const ledger = Ledger.forContext(context);
		const sequences = new KeySequences(creation, ledger);
		const enteredHashes = hashCheck && enteredText ? parseHashes(enteredText) : [];
		const owner = digest(randomUUID());
		this.creation = { ...creation, ledger, sequences, enteredHashes, owner };
	}

	readonly lockAndLook = async (
		signal: AbortSignal,
		{ isAhead = false } = {},
	): Promise<T | undefined> => {
		this.unlock = await lockKeys(this.creation.ledgerKeys, signal);
		this.found = await lookForEarlier(this.creation, isAhead);
		return this.found.existing;
	};

	readonly acquireKeys = async (): Promise<void> => {
		const { creation } = this;
		await this.claimOrRefuse().catch(async (error: unknown) => {
			await this.releaseKeys();
			await creation.sequences.releaseTaken();
			throw error;
		});
		const positions = creation.sequences.latestKnown();
		const unresolved = buildAttempt(creation, { state: 'unresolved', positions });
		recordAttempt(creation, creation.ledgerKeys, unresolved);
		this.isInFlight = true;
	};

	/** The service did not process the request, but an entered code stays spent. */
	async releaseBetweenTries(): Promise<void> {
		this.creation.sequences.keepTaken();
		// Already overridden or replaced. The next try asks only the ledger.
		this.found = { ...NOTHING_FOUND, differences: this.found.differences };
		await this.discardAttempt();
	}

	async recordResult(made: T): Promise<Pick<Created<T>, 'replacedHash' | 'hasKnownHash'>> {
		const { creation } = this;
		const { orderKey, doubtKeys, lastingKeys, ledger, owner, memory, sequences } = creation;
		const result = creation.toStoredResult(made);
		const key = resultKey(creation, result.hash);
		const hasKnownHash = findAttempt(key) !== undefined;
		if (creation.isVoid(made)) await this.discardAttempt();
		else {
			forgetKeys(doubtKeys);
			const positions = sequences.latestLasting(key);
			const attempt = buildAttempt(creation, { state: 'made', result, positions });
			recordAttempt(creation, [...lastingKeys, key], attempt);
			// After a void result, an equal item of a later run gets the same number.
			memory.markReturned(creation.itemNumbers);
			await ledger?.releaseKeys(doubtKeys, owner);
			// Keeps the hash from being entered for another order after a restart.
			if (orderKey !== undefined) await ledger?.claimKey(key, orderKey).catch(() => false);
		}
		return { replacedHash: this.replacedHash, hasKnownHash };
	}

	async endAfterError(error: unknown): Promise<unknown> {
		if (error instanceof LedgerError) return attemptNotRecordedError(this.creation, error.message);
		if (!this.isInFlight) return error;
		const isRefused = error instanceof ServiceError && !error.isInDoubt;
		if (isRefused || error instanceof CanceledError) await this.discardAttempt();
		else {
			const { isAgentCall, ledgerKeys } = this.creation;
			await this.restoreKeys();
			// An agent must not call again for the code.
			const own = [{ isSame: true, keys: ledgerKeys }];
			if (isAgentCall) await codeForPerson(this.creation, own);
		}
		return error;
	}

	private async claimOrRefuse(): Promise<void> {
		await this.overrideOrRefuse(await this.claimInLedger());
		if (this.creation.itemOrder.mustNotSend) throw new CanceledError();
	}

	/**
	 * Spends an entered code, even if nothing blocks the request.
	 *
	 * @returns false if no code allows it
	 */
	private async spendCode(blocking: readonly Doubt[]): Promise<boolean> {
		const { creation } = this;
		const allowed = await findAllowedPositions(creation, blocking);
		return allowed !== undefined && (await creation.sequences.takeNext(allowed));
	}

	private async overrideOrRefuse(othersKeys: string[]): Promise<void> {
		const { creation, found } = this;
		const { sequences } = creation;
		const { doubts, voids } = found;
		const voidKeys = voids.flatMap((each) => keysOfAttempt(creation, each));
		// Beside a doubt, the void result may have been replaced.
		const knownKeys = doubts.length > 0 ? doubts.flatMap(({ keys }) => keys) : voidKeys;
		const blocking = [...doubts, ...buildDoubts(creation, difference(othersKeys, knownKeys))];
		const isOnlyVoid = voids.length > 0 && blocking.length === 0;
		this.replacesVoid = isOnlyVoid && (await sequences.replaceVoids(voids));
		const { result, orderReference } = voids.at(-1) ?? {};
		if (this.replacesVoid) this.replacedHash = String(result?.hash);
		else if (isOnlyVoid) {
			// Another request has replaced the void result.
			blocking.push({ isSame: false, orderReference, keys: voidKeys });
		}
		if (!this.replacesVoid && !(await this.spendCode(blocking)) && blocking.length > 0) {
			throw await errorWithCode(creation, blocking, found.differences);
		}
		await sequences.endVoids(voids);
		if (othersKeys.length > 0) {
			this.overriddenKeys.push(...othersKeys);
			await this.takeOverKeys(othersKeys).catch((error: unknown) => {
				// The others' keys may be deleted, so the code must not work again.
				sequences.keepTaken();
				throw error;
			});
		}
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
		const doubts = buildDoubts(creation, lostKeys);
		// `buildDoubts` leaves out the slot of an agent.
		const blocking = doubts.length > 0 ? doubts : [{ isSame: true, keys: lostKeys }];
		throw await errorWithCode(creation, blocking, this.found.differences);
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

	/** Another request may have taken the keys over with a code, then released them. */
	private async restoreKeys(): Promise<void> {
		const { ledgerKeys, ledger, owner } = this.creation;
		for (const key of ledgerKeys) await ledger?.claimKey(key, owner).catch(() => undefined);
	}
}
