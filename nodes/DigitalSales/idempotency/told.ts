import { range, uniq } from 'lodash';
import { Ledger } from '../n8n';
import { clock } from '../shared';
import { type Creation, toldKey } from './keys';

/*
 * A decision is about a doubt of which its author has read. An entry that was left behind must not act on a later
 * attempt, and no entry on an attempt that is still under way on another worker.
 */

/** A request and its answer take two minutes at most. */
const MINUTES_UNDER_WAY = 4;

/** When an execution first told of a doubt. A later one may act on what a person has said about it. */
export type Told = 'now' | 'minutes ago' | 'before';

/** @param mayBeUnderWay only n8n's database knows the attempt */
export async function tell<T>(
	creation: Creation<T>,
	key: string,
	mayBeUnderWay: boolean,
): Promise<Told> {
	const { context, memory } = creation;
	const ledger = Ledger.forContext(context);
	if (!ledger) return 'before';

	const told = toldKey(creation, key);
	if (!(await ledger.hasKey(told))) {
		await note(ledger, told, mayBeUnderWay ? minuteBefore(0) : memory.execution);
		return 'now';
	}
	if (await ledger.hasKey(`${told} ${memory.execution}`)) return 'now';

	// The clocks of two workers may differ by a minute.
	for (const minutes of range(-1, MINUTES_UNDER_WAY + 1)) {
		if (await ledger.hasKey(`${told} ${minuteBefore(minutes)}`)) return 'minutes ago';
	}
	return 'before';
}

/** The attempt has ended, so a decision counts in the next execution. */
export async function tellOfEnd<T>(creation: Creation<T>, key: string): Promise<void> {
	const ledger = Ledger.forContext(creation.context);
	if (ledger) await note(ledger, toldKey(creation, key), creation.memory.execution);
}

/** What was told is about an earlier attempt. */
export async function forgetTold<T>(creation: Creation<T>, key: string): Promise<void> {
	const ledger = Ledger.forContext(creation.context);
	// An execution without the Order Reference meets the same attempt by its customer and cart.
	for (const met of uniq([key, creation.unresolved ?? key])) {
		const told = toldKey(creation, met);
		if (await ledger?.hasKey(told)) await ledger?.deleteKeys([told]);
	}
}

/** @param when comes first, so that nobody finds the doubt told without it */
async function note(ledger: Ledger, told: string, when: string): Promise<void> {
	for (const key of [`${told} ${when}`, told]) await ledger.claimKey(key, 'told');
}

function minuteBefore(minutes: number): string {
	return `minute ${Math.floor(clock.now() / 60_000) - minutes}`;
}
