import { removeInvisible } from '../domain';

/** Without letters and digits that look alike. */
export const CODE_LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const HALF = `[${CODE_LETTERS}]{4}`;
const SHOWN_CODE = new RegExp(`^${HALF}-${HALF}$`, 'i');
const TYPED_CODE = new RegExp(`^${HALF}.?${HALF}$`);

/** Each word is a code or a hash. */
export function splitEntered(text: string): string[] {
	const words = removeInvisible(text).split(/[\s,;]+/);
	return [...new Set(words)].filter((word) => word !== '');
}

/** A word with the dash of a code is no hash. */
export function parseHashes(text: string): string[] {
	return splitEntered(text).filter((word) => !SHOWN_CODE.test(word));
}

/** A code may be typed without its dash. Some hashes look the same. */
export function looksLikeCode(word: string): boolean {
	return TYPED_CODE.test(word);
}
