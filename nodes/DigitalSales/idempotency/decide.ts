import { lowerFirst, range, uniq } from 'lodash';
import { ServiceError } from '../api';
import { clock, formatDay } from '../shared';
import { againKey, type Creation, toldKey } from './keys';
import { type Found, isKeyTaken } from './look';
import { type Doubt, inDoubtError } from './refusals';

/*
 * A decision counts only if its author has read the error about this doubt. An entry that was left behind must not act on
 * a later attempt, nor on one that another worker is still sending. Two keys of the ledger guard this: the owner of `told`
 * is who first told of the doubt, and `again` belongs to the one attempt that decisions allow in a day.
 */

/** A request and its answer take two minutes at most, and n8n may be slow to start or end it. */
const MINUTES_UNDER_WAY = 4;

export const SPENT =
	'A decision has already allowed one attempt for it today. The next one is possible tomorrow (Brasília time).';
const TOO_EARLY =
	'The decision does not count yet, because the charge may still be under way. If it is about this charge, run again in a few minutes.';
const SEVERAL =
	'Options > Charges in Doubt names a customer who has several charges in doubt: give each its own Order Reference, with a decision of its own.';

/**
 * Applies what a person has said about the charge in doubt.
 *
 * @returns the charge that was found, or undefined if it is to be made, or there is no doubt
 * @throws NotSentError if nobody has, or what was found is not this charge
 */
export async function decide<T>(creation: Creation<T>, found: Found<T>): Promise<T | undefined> {
	const { decision, memory, name, identity } = creation;
	const { doubt } = found;
	if (!doubt) return undefined;

	// Also without a decision, because the error tells of the doubt.
	const isTooEarly = await tellOfDoubt(creation, found);
	if (!decision) throw inDoubtError(creation, doubt);
	// Without an Order Reference, an entry names a customer.
	if (memory.noteDistinct(`doubts of ${name}`, identity) > 1)
		throw inDoubtError(creation, doubt, SEVERAL);
	if (isTooEarly) throw inDoubtError(creation, doubt, TOO_EARLY);
	if (decision.hash !== undefined) return await readDecided(creation, doubt, decision.hash);

	for (const again of againKeys(creation, found)) {
		if (await isKeyTaken(creation, again)) throw inDoubtError(creation, doubt, SPENT);
	}
	return undefined;
}

async function readDecided<T>(creation: Creation<T>, doubt: Doubt, hash: string): Promise<T> {
	const refuse = (problem: string): never => {
		const note = `The transaction in Options > Charges in Doubt ${problem}: correct its Hash.`;
		throw inDoubtError(creation, doubt, note);
	};

	const made = await creation.readAgain({ hash }).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		return refuse(`could not be read, because ${lowerFirst(error.message)}`);
	});

	const differences = creation.isVoid(made)
		? ['has failed or expired']
		: creation.findDifferences?.(made);
	return differences?.length ? refuse(differences.join(' and ')) : made;
}

/**
 * Records when an error first told of the doubt.
 *
 * @returns whether a decision is too early: this execution has told of a known attempt, or anybody in the last minutes
 */
async function tellOfDoubt<T>(creation: Creation<T>, { key, doubt }: Found<T>): Promise<boolean> {
	const { ledger, memory } = creation;
	if (!ledger) return false;

	/** Tells of the doubt if nobody has. Returns whether this owner has told of it, now or before. */
	const tellAs = async (owner: string) => await ledger.claimKey(toldKey(creation, key), owner);
	// An attempt that this process or execution knows has ended: while it is sent, it holds the lock.
	const teller = doubt?.attempt ? memory.executionId : minuteBefore(0);
	// The clocks of two workers may differ by a minute.
	const minutes = range(-1, MINUTES_UNDER_WAY + 1).map(minuteBefore);

	// After the first of these, somebody has told of it: the others find out whether it was this execution, or recently.
	for (const owner of [teller, memory.executionId, ...minutes]) {
		if (await tellAs(owner)) return true;
	}
	return false;
}

/** Lets a decision count from the next execution on, or, if this fails, some minutes later. */
export async function tellOfEnd<T>(creation: Creation<T>, key: string): Promise<void> {
	const { ledger, memory } = creation;
	// The own attempt has ended. If another process sends one now, the `again` keys refuse the decision.
	await ledger?.claimKey(toldKey(creation, key), memory.executionId).catch(() => undefined);
}

/** What was told is about an earlier attempt. */
export async function forgetTold<T>(creation: Creation<T>, key: string): Promise<void> {
	const { ledger, unresolved = key } = creation;
	// An execution without the Order Reference meets the same attempt by its customer and cart.
	for (const told of uniq([key, unresolved].map((met) => toldKey(creation, met)))) {
		if (await ledger?.hasKey(told)) await ledger?.deleteKey(told);
	}
}

/** Claimed by the one attempt that decisions about a doubt allow in a day. Around midnight, of both days. */
export function againKeys<T>(creation: Creation<T>, { key, lookedAt }: Found<T>): string[] {
	// An attempt that began shortly before the look may still be under way.
	const times = [lookedAt - MINUTES_UNDER_WAY * 60_000, clock.now()];
	const days = uniq(times.map(formatDay));

	return days.map((day) => againKey(toldKey(creation, key), day));
}

function minuteBefore(minutes: number): string {
	return `minute ${Math.floor(clock.now() / 60_000) - minutes}`;
}
