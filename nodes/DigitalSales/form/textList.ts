import type { Result } from '../domain';

/** An expression may return a list, or a text with commas. */
export function parseTexts(input: unknown): Result<string[]> {
	const given: unknown[] = Array.isArray(input) ? input : [input ?? ''];
	if (!given.every((one) => typeof one === 'string')) {
		return { problem: 'must be a list, separated by commas' };
	}
	const texts = given.flatMap((one) => one.split(/[,;]/)).map((text) => text.trim());
	const value = texts.filter((text) => text !== '');
	return value.length > 0 ? { value } : { problem: 'is empty; fill it in' };
}
