import { randomUUID } from 'crypto';
import { compact, difference, mergeWith } from 'lodash';
import { ServiceError } from '../api';
import { Ledger, LedgerError } from '../n8n';
import { CanceledError, digest, lockKeys } from '../shared';
import { type Attempt, findAttempt, forgetKeys } from './attempts';
import type { Created, Creation, KeyedCreation } from './creation';
import {
	buildUnresolved,
	compareAttempts,
	type ComparedAttempt,
	type EarlierAttempts,
	findEarlierAttempts,
	findKnownResult,
	findUnresolvedInLedger,
	forgetEndedDoubts,
	keysOfAttempt,
} from './earlier';
import { endDoubtByHash } from './enteredHash';
import { resultKey } from './keys';
import { listDescribed, OverrideCodes, parseHashes } from './overrideCodes';
import { KeySequences, type Positions } from './positions';
import { buildAttempt, recordAttempt, recordExisting } from './record';
import {
	unrecordedError,
	unrecordedResultError,
	type Unresolved,
	unresolvedError,
} from './refusals';

/** Claims the keys of one creation in the process, the execution and n8n's database. */
export class Claim<T> {
	readonly creation: KeyedCreation<T>;
	private earlier: EarlierAttempts<T> = { unresolved: [], voids: [] };
	private differences: string[] = [];
	private ownKeys: string[] = [];
	private overriddenKeys: string[] = [];
	private replacesVoid = false;
	private isInFlight = false;
	unlock: () => void = () => undefined;

	constructor(creation: Creation<T>) {
		const { context, ledgerKeys, requestKey, enteredHash, enteredText = '' } = creation;
		const ledger = Ledger.forContext(context);
		const sequences = new KeySequences(ledgerKeys, ledger);
		const codes = new OverrideCodes(requestKey, sequences);
		const enteredHashes = enteredHash ? parseHashes(enteredText) : [];
		const owner = digest(randomUUID());
		this.creation = { ...creation, ledger, sequences, codes, enteredHashes, owner };
	}

	/**
	 * Locks the keys until `unlock`, and looks for earlier attempts. Records an existing result under these keys, and ends
	 * doubts by a hash.
	 *
	 * @param options `isAhead`: before any item is sent. Looks for doubts in the ledger, too. Records a known result without reading it.
	 * @throws NotSentError if an outcome is unknown, and no code allows another attempt
	 */
	readonly lockAndFindExisting = async (
		signal: AbortSignal,
		{ isAhead = false } = {},
	): Promise<T | undefined> => {
		const { creation } = this;
		this.unlock = await lockKeys(creation.ledgerKeys, signal);
		await forgetEndedDoubts(creation);
		const attempts = compareAttempts(creation);
		if (isAhead && (await this.recordKnownResult(attempts))) return undefined;
		this.earlier = await findEarlierAttempts(creation, attempts);
		const { existing, voids } = this.earlier;
		if (existing) {
			await this.recordExisting(existing.earlier);
			await this.endVoids(voids);
			return existing.made;
		}
		const hasEnteredHash = creation.enteredHashes.length > 0;
		const isKnown = this.earlier.unresolved.length > 0;
		const isOnlyVoid = !isKnown && voids.length > 0;
		const needsLedger = !isKnown && (hasEnteredHash || (isAhead && !isOnlyVoid));
		const found = needsLedger ? await findUnresolvedInLedger(creation) : this.earlier.unresolved;
		const unresolved = isAhead
			? found.filter(({ keys }) => !creation.memory.areReserved(keys))
			: found;
		const entered = await endDoubtByHash(creation, unresolved, isAhead);
		const { made, unreadableError, unneededError } = entered;
		this.differences = entered.differences;
		if (made !== undefined && !isAhead) await this.endVoids(voids);
		if (made !== undefined) return made;
		if (unresolved.length === 0 || isOnlyVoid) {
			// Nothing is sent for an item while a hash is entered that may be its charge.
			if (unreadableError ?? unneededError) throw unreadableError ?? unneededError;
			return undefined;
		}
		if ((await this.findAllowedPositions(unresolved)) !== undefined) {
			if (isAhead) creation.memory.reserveKeys(unresolved.flatMap(({ keys }) => keys));
			return undefined;
		}
		throw unreadableError ?? (await this.buildErrorWithCode(unresolved));
	};

	readonly acquireKeys = async (): Promise<void> => {
		const { creation } = this;
		await this.claimOrRefuse().catch(async (error: unknown) => {
			await this.releaseKeys();
			await creation.sequences.releaseTaken();
			throw error;
		});
		recordAttempt(creation, creation.ledgerKeys, buildAttempt(creation, 'unresolved'));
		this.isInFlight = true;
	};

	/** The service did not process the request, but an entered code stays spent. */
	async releaseBetweenTries(): Promise<void> {
		this.creation.sequences.keepTaken();
		// Already overridden or replaced. The next try asks only the ledger.
		this.earlier = { unresolved: [], voids: [] };
		await this.discardAttempt();
	}

	async recordResult(made: T): Promise<Pick<Created<T>, 'replacedHash' | 'hasKnownHash'>> {
		const { creation } = this;
		const { orderKey, doubtKeys, lastingKeys, ledger, owner } = creation;
		const result = creation.toStoredResult(made);
		const key = resultKey(creation, result.hash);
		const hasKnownHash = findAttempt(key) !== undefined;
		const [latestVoid] = this.replacesVoid ? this.earlier.voids.slice(-1) : [];
		const replacedHash = latestVoid && String(latestVoid.result?.hash);
		if (creation.isVoid(made)) await this.discardAttempt();
		else {
			recordAttempt(creation, lastingKeys, buildAttempt(creation, 'made', result));
			forgetKeys(doubtKeys);
			await ledger?.releaseKeys(doubtKeys, owner);
			// Keeps the hash from being entered for another order after a restart.
			if (orderKey !== undefined) await ledger?.claimKey(key, orderKey).catch(() => false);
		}
		return { replacedHash, hasKnownHash };
	}

	async endAfterError(error: unknown): Promise<unknown> {
		if (error instanceof LedgerError) return unrecordedError(this.creation, error.message);
		if (!this.isInFlight) return error;
		const isRefused = error instanceof ServiceError && !error.isInDoubt;
		if (isRefused || error instanceof CanceledError) await this.discardAttempt();
		else {
			const { isAgentCall, ledgerKeys } = this.creation;
			await this.restoreKeys();
			// An agent must not call again for the code.
			if (isAgentCall) await this.computeAndLogCode([{ isSame: true, keys: ledgerKeys }]);
		}
		return error;
	}

	/** @returns false if no result is known, or it cannot be recorded, so that the full look must decide */
	private async recordKnownResult(attempts: ComparedAttempt[]): Promise<boolean> {
		const known = findKnownResult(this.creation, attempts);
		if (!known) return false;
		return await this.recordExisting(known).then(
			() => true,
			() => false,
		);
	}

	private async recordExisting(earlier: Attempt): Promise<void> {
		await recordExisting(this.creation, earlier).catch((error: unknown) => {
			if (!(error instanceof LedgerError)) throw error;
			throw unrecordedResultError(this.creation, earlier, error.message);
		});
	}

	private async claimOrRefuse(): Promise<void> {
		const { creation } = this;
		const { unresolved, voids } = this.earlier;
		const othersKeys = await this.claimInLedger();
		const voidKeys = voids.flatMap((each) => keysOfAttempt(creation, each));
		const knownKeys = unresolved.length > 0 ? unresolved.flatMap(({ keys }) => keys) : voidKeys;
		const blocking = [
			...unresolved,
			...buildUnresolved(creation, difference(othersKeys, knownKeys)),
		];
		const isOnlyVoid = voids.length > 0 && blocking.length === 0;
		this.replacesVoid = isOnlyVoid && (await this.takePositionsOf(voids));
		if (isOnlyVoid && !this.replacesVoid) {
			// Another request has replaced the void result.
			const orderReference = voids.at(-1)?.orderReference;
			blocking.push({ isSame: false, orderReference, keys: voidKeys });
		}
		if (!this.replacesVoid) await this.takeAllowedPositions(blocking);
		await this.endVoids(voids);
		if (othersKeys.length > 0) {
			this.overriddenKeys.push(...othersKeys);
			await this.takeOverKeys(othersKeys).catch((error: unknown) => {
				// The others' keys may be deleted, so the code must not work again.
				creation.sequences.keepTaken();
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
		// `buildUnresolved` leaves out the slot of an agent.
		throw await this.buildErrorWithCode(
			unresolved.length > 0 ? unresolved : [{ isSame: true, keys: lostKeys }],
		);
	}

	/** @returns false if another request has taken a position of a void result since */
	private async takePositionsOf(voids: Attempt[]): Promise<boolean> {
		const { sequences } = this.creation;
		const positions = await sequences.read();
		const own = voids.map((voided) => voided.positions);
		return await sequences.takeNext({ ...positions, ...mergeWith({}, ...own, latestOf) });
	}

	/** Takes the next positions, so that no other process that knows only a void result replaces it. */
	private async endVoids(voids: Attempt[]): Promise<void> {
		for (const { positions } of voids) await this.creation.sequences.takeNext(positions);
	}

	/** Spends an entered code even if nothing blocks the request. */
	private async takeAllowedPositions(blocking: Unresolved[]): Promise<void> {
		const positions = await this.findAllowedPositions(blocking);
		const isAllowed =
			positions !== undefined && (await this.creation.sequences.takeNext(positions));
		if (blocking.length > 0 && !isAllowed) throw await this.buildErrorWithCode(blocking);
	}

	private async findAllowedPositions(unresolved: Unresolved[]): Promise<Positions | undefined> {
		const { codes, enteredText, orderKey } = this.creation;
		if (enteredText === undefined) return undefined;
		return await codes.findAllowedPositions(enteredText, listDescribed(unresolved, orderKey));
	}

	private async buildErrorWithCode(unresolved: Unresolved[]) {
		const code = await this.computeAndLogCode(unresolved);
		return unresolvedError(this.creation, unresolved, code, this.differences);
	}

	/** A model must not see the code, so a person finds it in the log. */
	private async computeAndLogCode(
		unresolved: ReadonlyArray<Pick<Unresolved, 'isSame' | 'keys'>>,
	): Promise<string | undefined> {
		const { codes, orderKey, context, isAgentCall, kind, about } = this.creation;
		const code = await codes.nextCode(listDescribed(unresolved, orderKey)).catch(() => undefined);
		if (code !== undefined && isAgentCall) {
			context.logger.warn(`The code for a ${kind} in doubt (${about}) is ${code}.`);
		}
		return code;
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

function latestOf(one: number | undefined, other: number): number {
	return Math.max(one ?? 0, other);
}
