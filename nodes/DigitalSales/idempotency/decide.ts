import { range, uniq } from 'lodash';
import { ServiceError } from '../api';
import { clock, digest, formatDay } from '../shared';
import { type Creation, isOrderKey } from './keys';
import { type Found, isKeyTaken } from './look';
import { describeAnswer, type Doubt, inDoubtError } from './refusals';

/*
 * A decision counts only if its author has read the error about this doubt. An entry that was left behind must not act on
 * a later attempt, nor on one that another worker is still sending. Two keys of the ledger guard this: `told` says when an
 * error first told of the doubt, and `again` belongs to the one attempt that decisions allow in a day.
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
	const { doubt, ends, lookedAt } = found;
	const [key = ''] = ends;
	if (!doubt) return undefined;

	// Also without a decision, because the error tells of the doubt.
	const isTooEarly = await tellOfDoubt(creation, key, doubt);
	if (!decision) throw inDoubtError(creation, doubt);
	// Without an Order Reference, an entry names a customer.
	if (memory.noteDistinct(`doubts of ${name}`, identity) > 1)
		throw inDoubtError(creation, doubt, SEVERAL);
	if (isTooEarly) throw inDoubtError(creation, doubt, TOO_EARLY);
	if (decision.hash !== undefined) return await readDecided(creation, doubt, decision.hash);

	for (const again of againKeys(creation, key, lookedAt)) {
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
		return refuse(`could not be read (the platform ${describeAnswer(error.answer)})`);
	});

	const differences = creation.isVoid(made)
		? ['has failed or expired']
		: creation.findDifferences?.(made);
	return differences?.length ? refuse(differences.join(' and ')) : made;
}

/**
 * Records when an error first told of the doubt.
 *
 * @returns whether a decision is too early: no earlier execution has told of it, or the attempt may still be under way
 */
async function tellOfDoubt<T>(
	creation: Creation<T>,
	key: string,
	{ attempt }: Doubt,
): Promise<boolean> {
	const { ledger, memory } = creation;
	if (!ledger) return false;

	// An attempt that this process or execution knows has ended: while it is sent, it holds the lock.
	const teller = attempt ? memory.execution : minuteBefore(0);
	// The clocks of two workers may differ by a minute.
	const minutes = range(-1, MINUTES_UNDER_WAY + 1).map(minuteBefore);

	// If no error has told of the doubt, the first call writes who tells now. Otherwise a call succeeds only if this execution
	// told of it, or somebody within these minutes.
	for (const owner of [teller, memory.execution, ...minutes]) {
		if (await ledger.claimKey(toldKey(creation, key), owner)) return true;
	}
	return false;
}

/** The attempt has ended, so a decision counts in the next execution. */
export async function tellOfEnd<T>(creation: Creation<T>, key: string): Promise<void> {
	await creation.ledger?.claimKey(toldKey(creation, key), creation.memory.execution);
}

/** What was told is about an earlier attempt. */
export async function forgetTold<T>(creation: Creation<T>, key: string): Promise<void> {
	const { ledger, unresolved = key } = creation;
	// An execution without the Order Reference meets the same attempt by its customer and cart.
	for (const told of uniq([key, unresolved].map((met) => toldKey(creation, met)))) {
		if (await ledger?.hasKey(told)) await ledger?.deleteKey(told);
	}
}

/**
 * Claimed by the one attempt that decisions about a doubt allow in a day. Around midnight, of both days.
 *
 * @param lookedAt an attempt that began shortly before may still be under way
 */
export function againKeys<T>(creation: Creation<T>, key: string, lookedAt: number): string[] {
	const times = [lookedAt - MINUTES_UNDER_WAY * 60_000, clock.now()];
	const days = uniq(times.map(formatDay));

	return days.map((day) => `again ${digest(toldKey(creation, key), day)}`);
}

/** Of the order, else of the customer's cart, which other executions meet. The owner is a minute, or an execution. */
function toldKey<T>({ unresolved }: Creation<T>, key: string): string {
	return `told ${digest(isOrderKey(key) ? key : (unresolved ?? key))}`;
}

function minuteBefore(minutes: number): string {
	return `minute ${Math.floor(clock.now() / 60_000) - minutes}`;
}
