import get from 'lodash/get';
import { cleanText } from '../domain/text';
import { isJsonObject } from '../shared/json';
import type { Form, Weight } from './formOf';

type Path = Array<string | number>;

/** An expression that gave nothing. */
export interface Gap {
	path: Path;
	message: string;
}

/** The code between the braces of an expression; n8n takes a brace behind a backslash as text. */
const PART = /(?<!\\)\{\{(.*?)(?<!\\)\}\}/gs;
const NOTHING = new Set(['', 'undefined', 'null', 'NaN', '[object Object]']);
/** What JavaScript writes for a value that is missing. */
const MISSING =
	/undefined|Invalid Date|(?<![\p{L}\p{N}])(?:null|NaN)(?![\p{L}\p{N}])|\[object Object\]/u;
const BY_MODEL = /\$fromAI\b/i;

/**
 * The expressions of an item that gave nothing, or of which a part did, in fields where it matters: the
 * default of such a field would be charged instead, or one Order Reference would stand for all orders.
 *
 * @param parameters as they stand in the form
 * @param values the same, evaluated for an item
 */
export function gapsIn(
	{ weights }: Pick<Form<never>, 'weights'>,
	parameters: Record<string, unknown>,
	values: Record<string, unknown>,
	evaluate: (part: string) => unknown,
): Gap[] {
	return Object.entries(weights).flatMap(([pattern, weight]) =>
		pathsTo(pattern.split('.'), parameters).flatMap((path) => {
			const raw = heldBy(get(parameters, path));
			if (typeof raw !== 'string' || !raw.startsWith('=')) return [];
			const message = gapIn(raw.slice(1), heldBy(get(values, path)), weight, evaluate);
			return message === undefined ? [] : [{ path, message }];
		}),
	);
}

/** What a resource locator holds, or the value itself. */
export function heldBy(value: unknown): unknown {
	return isJsonObject(value) && '__rl' in value ? value.value : value;
}

function gapIn(
	expression: string,
	value: unknown,
	weight: Weight,
	evaluate: (part: string) => unknown,
): string | undefined {
	const mayBeBlank = (code: string): boolean => weight === 'decides' && BY_MODEL.test(code);
	const isObject = isJsonObject(value);
	if (!isObject && givesNothing(value)) {
		return mayBeBlank(expression) ? undefined : 'is an expression that gave nothing';
	}
	const parts = [...expression.matchAll(PART)].map(([part]) => part);
	if (parts.length > 1 || parts[0] !== expression) {
		for (const part of parts) {
			const given = evaluate(part);
			if (givesNothing(given) && !mayBeBlank(part)) return `has a part that gave nothing: ${part}`;
			if (typeof given === 'number' && Math.abs(given) > Number.MAX_SAFE_INTEGER) {
				return `has a part that is too large for a number; make it text: ${part}`;
			}
		}
	}
	return weight === 'guards' && typeof value === 'string' && MISSING.test(value)
		? 'is an expression that gave nothing in a part of it'
		: undefined;
}

function givesNothing(value: unknown): boolean {
	return NOTHING.has(cleanText(String(value)));
}

/** The paths in a value that a pattern stands for; `*` is any index. */
function pathsTo([key, ...rest]: string[], value: unknown): Path[] {
	if (key === undefined) return [[]];
	const keys = key === '*' && Array.isArray(value) ? value.keys() : [key];
	return [...keys].flatMap((one) =>
		pathsTo(rest, get(value, one)).map((path): Path => [one, ...path]),
	);
}
