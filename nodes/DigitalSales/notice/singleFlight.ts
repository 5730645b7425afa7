import type { Transaction } from '../api/schemas/transaction';
import { BoundedMap } from '../shared/boundedMap';
import { clock, wait } from '../shared/clock';
import { processWide } from '../shared/processWide';

const PAUSE_MS = 3_000;
/** A sender waits some ten seconds for an answer, and the look itself takes time, too. */
const LONGEST_HOLD_MS = 3_500;

/** What a look found, for as long as another look would be too soon. */
export interface Found {
	transaction: Transaction;
}

/** One look at a subject: under way, or done a moment ago. */
interface Turn {
	/** What the notice claims that made somebody look; while the look is under way. */
	inHand?: { claim?: string; ended: Promise<void> };
	/** A second notice is waiting for its turn. */
	held: boolean;
	/** When the subject may be looked at again. */
	freeAt: number;
	found?: Found;
	/** Nobody needs to look at it any more. */
	over?: boolean;
}

/**
 * Looks at transactions and waiting executions, by who looks and at what.
 *
 * @internal
 */
export const turns = processWide(
	new BoundedMap<Turn>({
		most: 1_000,
		isOver: ({ inHand, freeAt }) => !inHand && freeAt <= clock.elapsed(),
		isKept: ({ inHand }) => inHand !== undefined,
	}),
);

/** What a look came to: whether the next one may follow at once, and what it found. */
export interface Look {
	pause: boolean;
	found?: Found;
	/** Nobody needs to look any more. */
	over?: boolean;
}

/**
 * What became of asking for a turn: it is granted and has to be ended; a look a moment ago has
 * already seen what the notice claims; or somebody else is at it, and the sender shall come again.
 */
export type Asked =
	| { granted: true; end: (look: Look) => void }
	| { granted: false; found?: Found; over?: boolean };

/** Who asks, and for what. */
export interface Asking {
	subject: string;
	/** What the notice speaks of. */
	claim?: string;
	/** Whether it must not wait for the end of a pause. */
	urgent?: boolean;
}

/**
 * Asks to look at a subject, of which one look is under way at a time, with a pause after each. So
 * a flood about one transaction costs one request. No change is missed by that: only a notice that
 * claims what has just been seen is spared its look; one that claims something else is held until
 * the pause is over, and all others are told to come again.
 */
export async function askForTurn(asking: Asking): Promise<Asked> {
	const { subject, claim, urgent = false } = asking;
	const askedAt = clock.elapsed();
	for (;;) {
		const turn = turns.get(subject);
		if (turn?.over) return { granted: false, over: true };
		if (!turn || (urgent && !turn.inHand)) return grant(subject, claim);
		if (!turn.inHand && claim !== undefined && claim === turn.found?.transaction.payment_status) {
			return { granted: false, found: turn.found };
		}
		const isSameNotice = turn.inHand !== undefined && turn.inHand.claim === claim;
		if (turn.held || isSameNotice || clock.elapsed() - askedAt > LONGEST_HOLD_MS) {
			return { granted: false };
		}
		turn.held = true;
		await (turn.inHand?.ended ?? wait(turn.freeAt - clock.elapsed()));
		turn.held = false;
	}
}

function grant(subject: string, claim: string | undefined): Asked {
	let ended: () => void = () => undefined;
	const turn: Turn = {
		inHand: { claim, ended: new Promise((resolve) => (ended = resolve)) },
		held: false,
		freeAt: 0,
	};
	turns.set(subject, turn);
	return {
		granted: true,
		end({ pause, found, over }) {
			turn.inHand = undefined;
			turn.found = found;
			turn.over = over;
			turn.freeAt = clock.elapsed() + PAUSE_MS;
			if (pause) turns.set(subject, turn);
			else turns.delete(subject);
			ended();
		},
	};
}
