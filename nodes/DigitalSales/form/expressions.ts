import { compact, get } from 'lodash';
import { cleanText } from '../domain';
import { isJsonObject, parseJson } from '../shared';
import type { Form, Path, Problem, Purpose } from './defineForm';

/* Which expressions a field refuses, because a part of them gave nothing. */

/** Matches `{{ code }}` in an expression. n8n treats a brace after a backslash as text. */
const PART = /(?<!\\)\{\{.*?(?<!\\)\}\}/gs;
const BLANK_RESULTS = new Set(['', 'undefined', 'null', 'NaN', '[object Object]']);
/** For `"order-" + undefined` in one expression. */
const BLANK_WITHIN_TEXT =
	/undefined|Invalid Date|(?<![\p{L}\p{N}])(?:null|NaN)(?![\p{L}\p{N}])|\[object Object\]/u;
const BY_MODEL = /\$fromAI\b/i;

/**
 * Finds expressions that break the rule of their field. Otherwise an empty Quantity would be charged as 1, and all
 * orders could share one Order Reference.
 */
export function findExpressionProblems(
	{ fields }: Form<unknown>,
	rawValues: Record<string, unknown>,
	values: Record<string, unknown>,
	evaluate: (part: string) => unknown,
): Problem[] {
	const problems: Problem[] = [];

	for (const field of fields) {
		const { purpose } = field;
		if (purpose === undefined || purpose === 'informs') continue;
		for (const path of matchingPaths(field.path, rawValues)) {
			const raw = locatorValue(get(rawValues, path));
			if (typeof raw !== 'string' || !raw.startsWith('=')) continue;

			const value = locatorValue(get(values, path));
			const message = expressionProblem(raw.slice(1), value, purpose, evaluate);
			if (message !== undefined) problems.push({ path, message });
		}
	}

	return problems;
}

/** In a pattern, `.*.` is any index. */
function matchingPaths(pattern: string, values: unknown): Path[] {
	const [list = '', inner] = pattern.split('.*.');
	if (inner === undefined) return [list.split('.')];

	const entries: unknown = get(values, list);
	if (!Array.isArray(entries)) return [];
	return entries.map((_entry, index) => [...list.split('.'), index, ...inner.split('.')]);
}

export function locatorValue(value: unknown): unknown {
	return isJsonObject(value) && '__rl' in value ? value.value : value;
}

/** @param text without the equals sign */
function expressionProblem(
	text: string,
	value: unknown,
	purpose: Purpose,
	evaluate: (part: string) => unknown,
): string | undefined {
	if (purpose === 'confirms' && BY_MODEL.test(text)) {
		return 'must be filled in by a person, not by a model';
	}
	if (!isJsonObject(value) && isGap(text, value, purpose)) {
		return 'is empty: its expression returned nothing';
	}

	const parts = text.match(PART) ?? [];
	// An expression of one part gives its value as it is. Several parts, or text around a part, become one text.
	const ofText = parts[0] === text ? [] : parts;
	const [problem] = compact(ofText.map((part) => partProblem(part, evaluate(part), purpose)));
	if (problem) return problem;

	if (purpose !== 'guards' || !BLANK_WITHIN_TEXT.test(String(value))) return undefined;
	return 'is incomplete: a part of its expression returned nothing';
}

function partProblem(part: string, value: unknown, purpose: Purpose): string | undefined {
	if (isGap(part, value, purpose)) {
		return `is incomplete: ${part} returned ${isJsonObject(value) ? 'an object' : 'nothing'}`;
	}
	if (purpose === 'json' && breaksJson(String(value))) {
		return `is broken by a quotation mark or backslash from ${part}: make the whole field one expression, such as {{ { coupon: $json.coupon } }}`;
	}
	if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
		return `contains a number that is too large: make ${part} text`;
	}
	return undefined;
}

/** A model may leave a field blank, unless it guards against a second charge. */
function isGap(code: string, value: unknown, purpose: Purpose): boolean {
	if (purpose !== 'guards' && BY_MODEL.test(code)) return false;
	return BLANK_RESULTS.has(cleanText(String(value)));
}

function breaksJson(text: string): boolean {
	return /["\\]/.test(text) && parseJson(text) === undefined;
}
