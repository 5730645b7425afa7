import { compact, uniq } from 'lodash';
import { Ledger } from '../n8n';
import { CanceledError } from '../shared';
import { againKey, type Created, type Creation, isOrderKey } from './keys';
import { buildAttempt, findHolder, type Found, isKeyTaken } from './look';
import { type Attempt, attempts, hashOf } from './memory';
import { type Doubt, inDoubtError } from './refusals';
import { forgetTold, tellOfEnd } from './told';

/** The keys of one request, claimed before it is sent, so that of several processes one sends it. */
export class Claim<T> {
	isInFlight = false;
	private readonly ledger: Ledger | undefined;
	private readonly attempt: Attempt;
	/** By key: its owner in the ledger. */
	private readonly held = new Map<string, string>();
	private readonly ownBefore;

	constructor(
		private readonly creation: Creation<T>,
		private readonly found: Found<T>,
	) {
		const [key = ''] = found.ends;
		this.ledger = Ledger.forContext(creation.context);
		this.attempt = buildAttempt(creation, key, { state: 'unresolved' });
		this.ownBefore = creation.memory.get(creation.itemIndex);
	}

	readonly acquire = async (): Promise<void> => {
		const { creation, attempt, found } = this;
		const { memory, itemIndex, itemOrder, unresolved } = creation;

		if (found.doubt) await this.claimAgain(found.doubt);
		await forgetTold(creation, attempt.key);
		for (const key of found.ends) await this.claimKey(key, attempt.id);
		// Owned by the key, so that only a decision about this attempt ends it.
		if (unresolved !== undefined) await this.claimKey(unresolved, attempt.key);
		if (itemOrder.mustNotSend) throw new CanceledError();

		memory.set(itemIndex, attempt);
		this.isInFlight = true;
	};

	/** The request was not processed. An earlier attempt stays in doubt. */
	async release(): Promise<void> {
		const { creation, found, ledger, attempt, ownBefore, isInFlight } = this;
		for (const [key, owner] of [...this.held].reverse()) await ledger?.releaseKeys([key], owner);
		this.held.clear();
		if (found.doubt) await tellOfEnd(creation, attempt.key).catch(() => undefined);

		if (isInFlight) creation.memory.set(creation.itemIndex, ownBefore);
		this.isInFlight = false;
	}

	/** Nobody knows whether the request was processed, so all keys stay. */
	async leaveInDoubt(): Promise<void> {
		const { creation, attempt, found, ledger, held } = this;
		const { unresolved } = creation;
		const keys = uniq(compact([...found.ends, ...held.keys(), unresolved]));
		for (const key of keys) attempts.set(key, key === unresolved ? attempt : { ...attempt, key });
		const record = async (): Promise<void> => {
			const decided = found.doubt && unresolved;
			// A person has decided about the earlier attempt, which may be another order's.
			if (decided) await ledger?.deleteKeys([decided]);
			if (decided) await ledger?.claimKey(decided, attempt.key);
			await tellOfEnd(creation, attempt.key);
		};
		await record().catch(() => undefined);
	}

	async record(made: T): Promise<Created<T>> {
		const { creation, found } = this;
		const { replacedHash } = found;
		const isDecided = found.doubt !== undefined;
		if (creation.isVoid(made)) await this.release();
		else await this.keep(made, isDecided);

		return { made, isExisting: false, isReplayed: false, replacedHash, isDecided };
	}

	/** A person has found the charge in doubt. */
	async recordDecided(made: T): Promise<Created<T>> {
		const { creation, found, attempt, ledger } = this;
		// Before the doubt ends, so that a crash in between leaves no way to charge again.
		for (const end of found.ends) await ledger?.claimKey(end, attempt.id);
		await this.keep(made, found.doubt?.isOfOthers === true);

		return { made, isExisting: true, isReplayed: !creation.isFirst, isDecided: true };
	}

	/** @param endsAllDoubts also that about another item's attempt for the same customer and cart */
	private async keep(made: T, endsAllDoubts: boolean): Promise<void> {
		const { creation, found, ledger } = this;
		const { memory, itemIndex, unresolved } = creation;
		const { ends } = found;
		const result = creation.toStoredResult(made);
		const attempt: Attempt = { ...this.attempt, state: 'made', result };

		memory.set(itemIndex, attempt);
		for (const key of ends) attempts.set(key, { ...attempt, key });
		if (unresolved !== undefined) attempts.delete(unresolved);

		const ended = compact([endsAllDoubts && unresolved]);
		await ledger?.deleteKeys(ended).catch(() => undefined);
		for (const key of ends) await ledger?.releaseKeys(compact([unresolved]), key);
		for (const key of ends) creation.inBackground(storeHash(creation, key, attempt));
	}

	/** One decision allows one attempt a day, on whichever process. */
	private async claimAgain(doubt: Doubt): Promise<void> {
		const { creation, attempt, ledger } = this;
		const key = againKey(creation, attempt.key);
		if (ledger && !(await ledger.claimKey(key, attempt.id))) {
			throw inDoubtError(creation, { ...doubt, isSpent: true });
		}

		this.held.set(key, attempt.id);
	}

	private async claimKey(key: string, owner: string): Promise<void> {
		const { creation, found, ledger } = this;
		// The key stays with the attempt that a person has looked for.
		if (!ledger || (found.doubt && (await isKeyTaken(creation, key)))) return;

		if (await ledger.claimKey(key, owner)) this.held.set(key, owner);
		else {
			const attempt = findHolder(creation, key);
			throw inDoubtError(creation, { attempt, isOfOthers: key === creation.unresolved });
		}
	}
}

export async function recordExisting<T>(
	creation: Creation<T>,
	found: Found<T>,
	attempt: Attempt,
	made: T,
): Promise<Created<T>> {
	const { memory, itemIndex, isFirst } = creation;
	memory.set(itemIndex, await giveReference(creation, found, attempt));
	const isReplayed = !isFirst || attempt.origin !== memory.origin;

	return { made, isExisting: true, isReplayed, isRepeated: !isFirst };
}

/** An Order Reference that was added for a Retry gets the charge that the item has. */
export async function giveReference<T>(
	creation: Creation<T>,
	{ ends: [end] }: Found<T>,
	attempt: Attempt,
): Promise<Attempt> {
	const { context, orderReference } = creation;
	const isNamed = attempt.orderReference !== undefined;
	if (isNamed || end === undefined || !isOrderKey(end)) return attempt;

	const named = { ...attempt, orderReference };
	const isFree = await Ledger.forContext(context)?.claimKey(end, attempt.id);
	if (isFree === false) return attempt;

	attempts.set(attempt.key, named);
	attempts.set(end, { ...named, key: end });
	creation.inBackground(storeHash(creation, end, attempt));
	return named;
}

/** Best effort: without the hash, the key alone refuses the charge until a person decides. */
async function storeHash<T>(creation: Creation<T>, key: string, attempt: Attempt): Promise<void> {
	const ledger = Ledger.forContext(creation.context);
	const store = async (): Promise<void> => {
		if (isOrderKey(key)) {
			await ledger?.claimKey(`${key} data`, attempt.fingerprint);
			await ledger?.claimKey(`${key} origin`, attempt.origin);
		}
		if (creation.kind === 'charge') await ledger?.storeText(key, hashOf(attempt));
	};

	await store().catch(() => undefined);
}
