import { range, uniq } from 'lodash';
import { ServiceError } from '../api';
import type { Ledger } from '../n8n';
import { clock } from '../shared';
import { againKeys, type Creation, MINUTES_UNDER_WAY, toldKey } from './keys';
import { type Found, isKeyTaken } from './look';
import {
	describeAnswer,
	type Doubt,
	hashError,
	inDoubtError,
	severalDoubtsError,
} from './refusals';

/*
 * A decision counts only if its author has read the error about this doubt. An entry that was left behind must not act on
 * a later attempt, nor on one that another worker is still sending.
 */

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

	// Also without a decision, because it records when an error first told of the doubt.
	const isTooEarly = await isDecisionTooEarly(creation, key, doubt);
	if (!decision) throw inDoubtError(creation, doubt);
	// Without an Order Reference, an entry names a customer.
	if (memory.countDoubts(name, identity) > 1) throw severalDoubtsError(creation);
	if (isTooEarly) throw inDoubtError(creation, { ...doubt, isTooEarly });
	if (decision.hash !== undefined) return await readDecided(creation, decision.hash);

	for (const again of againKeys(creation, key, lookedAt)) {
		const isSpent = await isKeyTaken(creation, again);
		if (isSpent) throw inDoubtError(creation, { ...doubt, isSpent });
	}
	return undefined;
}

async function readDecided<T>(creation: Creation<T>, hash: string): Promise<T> {
	const made = await creation.readAgain({ hash }).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		throw hashError(creation, `could not be read (the platform ${describeAnswer(error.outcome)})`);
	});

	const differences = creation.isVoid(made)
		? ['has failed or expired']
		: creation.findDifferences?.(made);
	if (differences?.length) throw hashError(creation, differences.join(' and '));
	return made;
}

/**
 * Records the first error about a doubt.
 *
 * @returns whether no earlier execution has shown that error, or the attempt may still be under way
 */
async function isDecisionTooEarly<T>(
	creation: Creation<T>,
	key: string,
	doubt: Doubt,
): Promise<boolean> {
	const { ledger, memory, decision } = creation;
	if (!ledger) return false;

	const told = toldKey(creation, key);
	if (!(await ledger.hasKey(told))) {
		// An attempt that this process or execution knows has ended: while it is sent, it holds the lock.
		const mayBeUnderWay = doubt.attempt === undefined;
		await note(ledger, told, mayBeUnderWay ? minuteBefore(0) : memory.execution);
		return true;
	}
	if (await ledger.hasKey(`${told} ${memory.execution}`)) return true;
	// A hash sends nothing, so it need not wait for what may be under way.
	if (decision?.hash !== undefined) return false;

	// The clocks of two workers may differ by a minute.
	for (const minutes of range(-1, MINUTES_UNDER_WAY + 1)) {
		if (await ledger.hasKey(`${told} ${minuteBefore(minutes)}`)) return true;
	}
	return false;
}

/** The attempt has ended, so a decision counts in the next execution. */
export async function tellOfEnd<T>(creation: Creation<T>, key: string): Promise<void> {
	const { ledger } = creation;
	if (ledger) await note(ledger, toldKey(creation, key), creation.memory.execution);
}

/** What was told is about an earlier attempt. */
export async function forgetTold<T>(creation: Creation<T>, key: string): Promise<void> {
	const { ledger } = creation;
	// An execution without the Order Reference meets the same attempt by its customer and cart.
	for (const met of uniq([key, creation.unresolved ?? key])) {
		const told = toldKey(creation, met);
		if (await ledger?.hasKey(told)) await ledger?.deleteKey(told);
	}
}

/** @param when is written first, because whoever finds `told` must find its time, too */
async function note(ledger: Ledger, told: string, when: string): Promise<void> {
	for (const key of [`${told} ${when}`, told]) await ledger.claimKey(key, 'told');
}

function minuteBefore(minutes: number): string {
	return `minute ${Math.floor(clock.now() / 60_000) - minutes}`;
}
