import { createHash } from 'crypto';
import type { Identity } from './identity';
import type { Ledger } from './ledger';
import { recall } from './processMemory';

/** Without letters and digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;

/** The name under which the use of a code is entered. */
export function usedKey(code: string): string {
	return `used ${code}`;
}

/**
 * The code that lets something in doubt be made again, once: it is bound to the very charge, and each
 * use brings up the next one.
 *
 * @returns the code, and how many were used before it
 */
export async function nextCode(
	identity: Identity,
	ledger: Ledger | undefined,
): Promise<{ code: string; turn: number }> {
	for (let turn = 0; ; turn++) {
		const code = codeOf(identity, turn);
		const used = usedKey(code);
		if (recall(used) === undefined && !(await ledger?.has(used))) return { code, turn };
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

function codeOf({ order, doubt }: Identity, turn: number): string {
	const bytes = createHash('sha256')
		.update(JSON.stringify([order ?? null, doubt, turn]))
		.digest();
	return dashed(
		[...bytes.subarray(0, LENGTH)].map((byte) => LETTERS[byte % LETTERS.length]).join(''),
	);
}

function dashed(code: string): string {
	return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
