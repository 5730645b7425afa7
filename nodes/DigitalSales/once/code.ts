import { createHash } from 'crypto';
import { clock } from '../shared/clock';
import { recall } from './attempts';
import { digest } from './execution';
import type { Identity } from './identity';
import type { Ledger } from './ledger';

/** No letters or digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;

/** A code left in a form must expire, since its use may be forgotten. */
const DAY_MS = 86_400_000;

/** The next code that allows something in doubt to be made again. */
interface NextCode {
	/** How many codes were used before. */
	used: number;
	/** Records the use of this one. */
	key: string;
	/** What the error shows. */
	code: string;
	/** What an error shows today, or showed yesterday. */
	accepted: string[];
}

/** Finds the next code. Each is bound to one charge and allows it once. */
export async function nextCode(identity: Identity, ledger: Ledger | undefined): Promise<NextCode> {
	const today = Math.floor(clock.now() / DAY_MS);
	for (let used = 0; ; used++) {
		const key = digest('used', identity.order ?? '', identity.doubt, String(used));
		if (recall(key) !== undefined || (await ledger?.has(key))) continue;
		const code = codeOf(key, today);
		return { used, key, code, accepted: [code, codeOf(key, today - 1)] };
	}
}

/** The codes that a person typed: one or several, in any case, with or without the dash. */
export function typedCodes(text: string | undefined): string[] {
	return (text ?? '')
		.toUpperCase()
		.split(/[\s,;]+/)
		.map((code) => code.replace(/[^0-9A-Z]/g, ''))
		.filter((code) => code.length === LENGTH)
		.map(dashed);
}

function codeOf(key: string, day: number): string {
	const bytes = createHash('sha256').update(`${key} ${day}`).digest().subarray(0, LENGTH);
	return dashed([...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join(''));
}

function dashed(code: string): string {
	return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
