import { createHash } from 'crypto';
import { clock } from '../shared/clock';
import { digest } from './execution';
import type { Identity } from './identity';
import type { Ledger } from './ledger';
import { recall } from './processMemory';

/** Without letters and digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;

/** A code that stays in a form does not come to count again, even where its use is forgotten by then. */
const DAY_MS = 86_400_000;

/** The next chance to make something in doubt again. */
export interface Chance {
	/** How often it was made again before. */
	turn: number;
	/** The name under which the use of the chance is entered. */
	used: string;
	/** What the error shows. */
	code: string;
	/** The codes that count: what an error shows today, or showed yesterday. */
	codes: string[];
}

/**
 * The chance to have something in doubt made again, once: its code is bound to the very charge, and
 * each use brings up the next one.
 */
export async function nextChance(identity: Identity, ledger: Ledger | undefined): Promise<Chance> {
	const today = Math.floor(clock.now() / DAY_MS);
	for (let turn = 0; ; turn++) {
		const used = digest('used', identity.order ?? '', identity.doubt, String(turn));
		if (recall(used) !== undefined || (await ledger?.has(used))) continue;
		const code = codeOf(used, today);
		return { turn, used, code, codes: [code, codeOf(used, today - 1)] };
	}
}

/** The codes in what a person typed: any case, with or without the dash, one or several. */
export function typedCodes(text: string | undefined): string[] {
	return (text ?? '')
		.toUpperCase()
		.split(/[\s,;]+/)
		.map((code) => code.replace(/[^0-9A-Z]/g, ''))
		.filter((code) => code.length === LENGTH)
		.map(dashed);
}

function codeOf(used: string, day: number): string {
	const bytes = createHash('sha256').update(`${used} ${day}`).digest().subarray(0, LENGTH);
	return dashed([...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join(''));
}

function dashed(code: string): string {
	return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
