import { compact, without } from 'lodash';
import { CanceledError } from '../shared';
import { againKeys, forgetTold, SPENT, tellOfEnd } from './decide';
import { type Created, type Creation, dataKey, isOrderKey, originKey } from './keys';
import { buildAttempt, findAttempt, type Found, isKeyTaken } from './look';
import { type Attempt, attempts, hashOf } from './memory';
import { type Doubt, inDoubtError } from './refusals';

/**
 * The keys of one request, claimed before it is sent, so that of several processes one sends it. If the charge is made, or
 * in doubt again, an earlier doubt ends. If it is not made, or fails at once, the doubt stays, and the same decision may be
 * used again.
 */
export class Claim<T> {
	/** The request may have left, and nothing is known of its outcome. */
	isInFlight = false;
	private readonly attempt: Attempt;
	/** By key: its owner in the ledger. */
	private readonly held = new Map<string, string>();

	constructor(
		private readonly creation: Creation<T>,
		private readonly found: Found<T>,
	) {
		this.attempt = buildAttempt(creation, { ...creation, key: found.key }, { state: 'unresolved' });
	}

	/** @throws NotSentError, LedgerError, CanceledError if it must not be sent */
	async acquire(): Promise<void> {
		const { creation, attempt, found } = this;
		const { memory, itemIndex, signal, unresolved } = creation;
		const { doubt, ends } = found;

		if (doubt) {
			// One decision allows one attempt a day, on whichever process.
			for (const again of againKeys(creation, found))
				await this.claimKey(again, attempt.id, doubt, SPENT);
		}

		// Before the claims: whoever finds a key taken must not find `told` of an earlier attempt.
		await forgetTold(creation, attempt.key);
		for (const end of ends) await this.claimOrSkip(end, attempt.id);
		if (unresolved !== undefined) await this.claimOrSkip(unresolved, attempt.key);
		if (signal.aborted) throw new CanceledError();

		memory.set(itemIndex, attempt);
		this.isInFlight = true;
	}

	/** Nothing valid was made, so the keys are free again. */
	async release(): Promise<void> {
		const { creation, found, attempt, held } = this;
		const { ledger, memory, itemIndex, own } = creation;
		// `unresolved` comes first: its owner is `attempt.key`, so whoever claims that key next would lose `unresolved` here.
		for (const [key, owner] of [...held].reverse()) await ledger?.releaseKey(key, owner);
		held.clear();
		if (found.doubt) await tellOfEnd(creation, attempt.key);

		if (this.isInFlight) memory.set(itemIndex, own);
		this.isInFlight = false;
	}

	/** Nobody knows whether the request was processed, so all keys stay. */
	async leaveInDoubt(): Promise<void> {
		const { creation, attempt, found, held } = this;
		const { ledger, unresolved } = creation;
		// The decision ended the earlier doubt. A row of `attempt.key` stays, so that it blocks other executions throughout. That
		// of another order's doubt is claimed anew.
		if (found.doubt) await this.freeUnresolved(without(found.ends, attempt.key));

		const keys = compact([...found.ends, ...held.keys(), unresolved]);
		for (const key of keys) attempts.set(key, attempt);

		// A decision may have freed it. If this fails, the other keys still refuse the order, or the execution.
		if (unresolved !== undefined)
			await ledger?.claimKey(unresolved, attempt.key).catch(() => undefined);
		await tellOfEnd(creation, attempt.key);
	}

	async record(made: T): Promise<Created<T>> {
		const { doubt, replacedHash } = this.found;
		const isVoid = this.creation.isVoid(made);
		if (isVoid) await this.release();
		else await this.keep(made);

		const isDecided = doubt !== undefined && !isVoid;
		return { made, isExisting: false, isReplayed: false, replacedHash, isDecided };
	}

	/** A person has found the charge in doubt. */
	async recordDecided(made: T): Promise<Created<T>> {
		const { creation, found, attempt } = this;
		// Before the doubt ends, so that a crash in between leaves no way to charge again.
		for (const end of found.ends) await creation.ledger?.claimKey(end, attempt.id);
		await this.keep(made);

		return { made, isExisting: true, isReplayed: !creation.isFirst, isDecided: true };
	}

	private async keep(made: T): Promise<void> {
		const { creation, found } = this;
		const { memory, itemIndex } = creation;
		const result = creation.toStoredResult(made);
		const attempt: Attempt = { ...this.attempt, state: 'made', result };
		memory.set(itemIndex, attempt);
		for (const key of found.ends) attempts.set(key, attempt);

		await this.freeUnresolved(found.ends);
		// An offer is known to its execution and process alone.
		if (creation.kind === 'offer') return;
		for (const key of found.ends) creation.inBackground(storeHash(creation, key, attempt));
	}

	/** Frees it if one of these keys owns it, or, after a decision about another order's doubt, whoever owns it. */
	private async freeUnresolved(owners: string[]): Promise<void> {
		const { creation, found } = this;
		const { ledger, unresolved } = creation;
		if (unresolved === undefined) return;

		if (found.doubt?.isOfOthers) {
			attempts.delete(unresolved);
			await ledger?.deleteKey(unresolved).catch(() => undefined);
			return;
		}

		const holder = attempts.get(unresolved);
		if (holder && owners.includes(holder.key)) attempts.delete(unresolved);
		for (const owner of owners) await ledger?.releaseKey(unresolved, owner);
	}

	/** With a decision, a taken key is skipped, whoever has it. */
	private async claimOrSkip(key: string, owner: string): Promise<void> {
		const { creation, found } = this;
		// The `again` keys let only one request through.
		if (found.doubt && (await isKeyTaken(creation, key))) return;

		const attempt = findAttempt(creation, key, 'unresolved');
		await this.claimKey(key, owner, { attempt, isOfOthers: key === creation.unresolved });
	}

	private async claimKey(key: string, owner: string, ifTaken: Doubt, note?: string): Promise<void> {
		const isOwn = await this.creation.ledger?.claimKey(key, owner);
		if (isOwn === false) throw inDoubtError(this.creation, ifTaken, note);

		this.held.set(key, owner);
	}
}

export async function recordExisting<T>(
	creation: Creation<T>,
	found: Found<T>,
	made: T,
): Promise<Created<T>> {
	const { memory, itemIndex, isFirst } = creation;
	const attempt = await giveReference(creation, found);
	memory.set(itemIndex, attempt);

	return { made, isExisting: true, isReplayed: !isFirst || attempt?.origin !== memory.origin };
}

/** An Order Reference that was added for a Retry gets the charge that the item has. */
export async function giveReference<T>(
	creation: Creation<T>,
	{ existing, key, ends }: Found<T>,
): Promise<Attempt | undefined> {
	const { ledger, orderReference } = creation;
	// `ends` has the order's key only if the order has no charge, so the charge was found under `former`.
	if (!existing || !isOrderKey(key) || !ends.includes(key)) return existing;
	if ((await ledger?.claimKey(key, existing.id)) === false) return existing;

	const named = { ...existing, orderReference };
	attempts.set(existing.key, named);
	attempts.set(key, named);
	creation.inBackground(storeHash(creation, key, existing));

	return named;
}

/** Of a charge. Without the hash, the key alone refuses the charge until a person decides. */
async function storeHash<T>({ ledger }: Creation<T>, key: string, attempt: Attempt): Promise<void> {
	try {
		if (isOrderKey(key)) {
			await ledger?.claimKey(dataKey(key), attempt.fingerprint);
			await ledger?.claimKey(originKey(key), attempt.origin);
		}
		// Last, because whoever reads it relies on the other rows.
		await ledger?.storeText(key, hashOf(attempt));
	} catch {
		// The charge is made, and its item has it.
	}
}
