import { Ledger } from '../n8n';
import { CanceledError } from '../shared';
import { type Created, type Creation, isOrderKey } from './keys';
import {
	buildAttempt,
	dataKey,
	findHolder,
	type Found,
	hashOf,
	isKeyTaken,
	originOfKey,
	toldKey,
} from './look';
import { type Attempt, attempts } from './memory';
import * as refusals from './refusals';

/** The keys of one request, claimed before it is sent, so that of several processes one sends it. */
export class Claim<T> {
	isInFlight = false;
	private readonly ledger: Ledger | undefined;
	private readonly attempt: Attempt;
	private readonly isDecided: boolean;
	/** By key: the owner in the ledger. */
	private readonly held = new Map<string, string>();
	private readonly before = new Map<string, Attempt | undefined>();
	private readonly ownBefore;

	constructor(
		private readonly creation: Creation<T>,
		private readonly found: Found<T>,
	) {
		const [key = ''] = found.ends;
		this.ledger = Ledger.forContext(creation.context);
		this.attempt = buildAttempt(creation, key, { state: 'unresolved' });
		this.isDecided = found.doubt !== undefined;
		this.ownBefore = creation.memory.get(creation.itemIndex);
	}

	readonly acquire = async (): Promise<void> => {
		const { creation, attempt, found } = this;
		const { memory, itemIndex, itemOrder, unresolved } = creation;
		if (this.isDecided) await this.claimAgain();
		for (const key of found.ends) await this.claimKey(key, attempt.id, false);
		// Owned by the key, so that only the decision about this attempt ends it.
		if (unresolved !== undefined) await this.claimKey(unresolved, attempt.key, true);
		// What was told was about an earlier attempt.
		for (const key of this.held.keys()) await this.ledger?.deleteText(toldKey(key));
		if (itemOrder.mustNotSend) throw new CanceledError();

		for (const key of this.keys()) {
			this.before.set(key, attempts.get(key));
			attempts.set(key, key === unresolved ? attempt : { ...attempt, key });
		}
		memory.set(itemIndex, attempt, false);
		this.isInFlight = true;
	};

	/** The request was not processed. An earlier attempt stays in doubt. */
	async release(): Promise<void> {
		const { creation, ledger, ownBefore } = this;
		for (const [key, owner] of [...this.held].reverse()) await ledger?.releaseKeys([key], owner);
		this.held.clear();
		if (!this.isInFlight) return;

		this.isInFlight = false;
		for (const [key, earlier] of this.before) {
			if (earlier) attempts.set(key, earlier);
			else attempts.delete(key);
		}
		const { memory, itemIndex } = creation;
		if (ownBefore) memory.set(itemIndex, ownBefore, ownBefore.isReplayed);
		else memory.delete(itemIndex);
	}

	async record(made: T): Promise<Created<T>> {
		const { creation, found, attempt, isDecided } = this;
		const { replacedHash } = found;
		const created = { made, isExisting: false, isReplayed: false, replacedHash, isDecided };
		if (creation.isVoid(made)) await this.release();
		else {
			const done: Attempt = { ...attempt, state: 'made', result: creation.toStoredResult(made) };
			const isReplayed = false;
			await recordMade(creation, found.ends, done, { isReplayed, endsDoubtOfOthers: isDecided });
		}

		return created;
	}

	/** One decision allows one attempt a day, on whichever process. */
	private async claimAgain(): Promise<void> {
		const { creation, attempt, found, ledger } = this;
		const key = refusals.againKey(attempt.key, creation.unresolved);
		const isFree = ledger
			? await ledger.claimKey(key, attempt.id)
			: attempts.get(key) === undefined;
		if (!isFree) throw new refusals.InDoubt(attempt.key, { ...found.doubt, isSpent: true });

		this.held.set(key, attempt.id);
	}

	private async claimKey(key: string, owner: string, isOfOthers: boolean): Promise<void> {
		const { creation, isDecided, ledger } = this;
		// The key stays with the attempt that a person has looked for.
		if (!ledger || (isDecided && (await isKeyTaken(creation, key)))) return;

		if (await ledger.claimKey(key, owner)) this.held.set(key, owner);
		else {
			const holder = await findHolder(creation, key);
			throw new refusals.InDoubt(key, { attempt: holder, isOfOthers });
		}
	}

	keys(): string[] {
		const { creation, found, held, ledger } = this;
		const { unresolved } = creation;
		// Where there is no ledger, the process alone keeps it.
		const kept = unresolved && !ledger ? [unresolved] : [];

		return [...new Set([...found.ends, ...held.keys(), ...kept])];
	}
}

export async function recordExisting<T>(
	creation: Creation<T>,
	found: Found<T>,
	{ attempt, made }: NonNullable<Found<T>['existing']>,
): Promise<Created<T>> {
	const { memory, itemIndex, isFirst, origin } = creation;
	const { orderReference = attempt.orderReference } = creation;
	const isReplayed = !isFirst || attempt.origin !== origin;
	await giveReference(creation, found, attempt);
	memory.set(itemIndex, { ...attempt, orderReference }, isReplayed);

	return { made, isExisting: true, isReplayed, isRepeated: !isFirst };
}

/** An Order Reference that was added for a Retry gets the charge that the item has. */
export async function giveReference<T>(
	creation: Creation<T>,
	{ ends: [end] }: Found<T>,
	attempt: Attempt,
): Promise<void> {
	const { context, orderReference = attempt.orderReference } = creation;
	const known = { ...attempt, orderReference };

	if (end !== undefined && isOrderKey(end) && attempt.key !== end) {
		const isFree = await Ledger.forContext(context)?.claimKey(end, attempt.id);
		if (isFree === false) throw refusals.referenceTakenError(creation, attempt);
		attempts.set(end, { ...known, key: end });
		creation.inBackground(storeHash(creation, end, known));
	}
	attempts.set(attempt.key, known);
}

interface Recording {
	isReplayed: boolean;
	/** A person has looked for the attempt that holds `unresolved`, whichever it is. */
	endsDoubtOfOthers: boolean;
}

export async function recordMade<T>(
	creation: Creation<T>,
	keys: readonly string[],
	attempt: Attempt,
	{ isReplayed, endsDoubtOfOthers }: Recording,
): Promise<void> {
	const { context, memory, itemIndex, unresolved } = creation;
	const ledger = Ledger.forContext(context);
	for (const key of keys) attempts.set(key, { ...attempt, key });
	memory.set(itemIndex, attempt, isReplayed);

	if (unresolved !== undefined) {
		attempts.delete(unresolved);
		if (endsDoubtOfOthers) await ledger?.deleteKeys([unresolved]).catch(() => undefined);
		else for (const key of keys) await ledger?.releaseKeys([unresolved], key);
	}
	for (const key of keys) creation.inBackground(storeHash(creation, key, attempt));
}

/** Best effort: without the hash, the key alone refuses the charge until a person decides. */
async function storeHash<T>(creation: Creation<T>, key: string, attempt: Attempt): Promise<void> {
	const ledger = Ledger.forContext(creation.context);
	const claim = async (...row: [key: string, owner: string]): Promise<void> => {
		await ledger?.claimKey(...row).catch(() => undefined);
	};
	if (isOrderKey(key)) {
		await claim(dataKey(key), attempt.fingerprint);
		await claim(originOfKey(key), attempt.origin);
	}
	if (creation.kind === 'charge') await ledger?.storeText(key, hashOf(attempt));
}
