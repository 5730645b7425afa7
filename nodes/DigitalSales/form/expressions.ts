import { get } from 'lodash';
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

interface Expression {
	/** Without the equals sign. */
	text: string;
	value: unknown;
	purpose: Purpose;
	evaluate: (part: string) => unknown;
}

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

	for (const { path: pattern, purpose } of fields) {
		if (purpose === undefined || purpose === 'informs') continue;
		for (const path of matchingPaths(pattern, rawValues)) {
			const raw = locatorValue(get(rawValues, path));
			if (typeof raw !== 'string' || !raw.startsWith('=')) continue;

			const value = locatorValue(get(values, path));
			const message = expressionProblem({ text: raw.slice(1), value, purpose, evaluate });
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

function expressionProblem(expression: Expression): string | undefined {
	const { text, value, purpose } = expression;
	const isByModel = BY_MODEL.test(text);
	if (purpose === 'confirms' && isByModel) {
		return 'must be filled in by a person, not by a model';
	}
	if (!isJsonObject(value) && isBlankResult(value)) {
		if (isByModel && purpose !== 'guards') return undefined;
		return 'is empty: its expression returned nothing';
	}

	const parts = [...text.matchAll(PART)].map(([part]) => part);
	// An expression of one part gives its value as it is. Several parts, or text around a part, become one text.
	const isOnePart = parts[0] === text;
	const problem = isOnePart ? undefined : findPartProblem(parts, expression);
	if (problem) return problem;

	if (purpose !== 'guards' || !BLANK_WITHIN_TEXT.test(String(value))) return undefined;
	return 'is incomplete: a part of its expression returned nothing';
}

function findPartProblem(parts: string[], { purpose, evaluate }: Expression): string | undefined {
	for (const part of parts) {
		const given = evaluate(part);
		const mayBeBlank = purpose !== 'guards' && BY_MODEL.test(part);

		if (isBlankResult(given) && !mayBeBlank) {
			return `is incomplete: ${part} returned ${isJsonObject(given) ? 'an object' : 'nothing'}`;
		}
		if (purpose === 'json' && breaksJson(String(given))) {
			return `is broken by a quotation mark or backslash from ${part}: make the whole field one expression, such as {{ { coupon: $json.coupon } }}`;
		}
		if (typeof given === 'number' && Math.abs(given) > Number.MAX_SAFE_INTEGER) {
			return `contains a number that is too large: make ${part} text`;
		}
	}

	return undefined;
}

function breaksJson(text: string): boolean {
	return /["\\]/.test(text) && parseJson(text) === undefined;
}

function isBlankResult(value: unknown): boolean {
	return BLANK_RESULTS.has(cleanText(String(value)));
}
