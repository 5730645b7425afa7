import { get, isEqual } from 'lodash';
import {
	type IExecuteFunctions,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
	jsonParse,
} from 'n8n-workflow';
import { findExcess, readInfo } from './fields';
import type { Form, Path, Problem, Purpose } from './defineForm';
import { cleanText, LONGEST_TEXT, quoteText } from '../domain';
import { NotSentError } from '../output';
import { isJsonObject } from '../shared';

/** Limits a message, because its path may contain keys of the user's JSON. */
const LONGEST_PROBLEM = 500;
const EXPRESSION_ADVICE = 'Correct the expression or the data, or clear the field.';

/**
 * @param addHint gets a message for each text that is left out
 * @throws NotSentError that names the parameter by its display name
 */
export function readForm<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	form: Form<T>,
	addHint: (message: string) => void,
): T {
	const readAll = (rawExpressions: boolean): Record<string, unknown> =>
		readValues(form, (name, initial) =>
			context.getNodeParameter(name, itemIndex, initial, { rawExpressions }),
		);
	const [values, raw] = [readAll(false), readAll(true)];
	const evaluate = (part: string): unknown => context.evaluateExpression(part, itemIndex);
	const expressionProblems = findExpressionProblems(form, raw, values, evaluate);

	for (const path of infoPaths(form, values)) {
		if (!readInfo(get(values, path)).isLeftOut) continue;
		addHint(
			`${displayPath(form.properties, path)} was left out, because its value is not a text, or is too long.`,
		);
	}
	const { data, problems } = checkForm(form, values, expressionProblems);
	if (data) return data;

	const [first = '', ...others] = problems;
	const advice = expressionProblems.length > 0 ? [EXPRESSION_ADVICE] : [];
	const also = others.map((problem) => `Also: ${problem}.`);
	throw new NotSentError(first, [...advice, ...also].join('\n'));
}

/** A hidden field gets its default. */
export function readValues(
	{ properties }: Form<unknown>,
	read: (name: string, initial: INodeProperties['default']) => unknown,
): Record<string, unknown> {
	const fields = properties.filter(({ type }) => type !== 'notice');
	return Object.fromEntries(
		fields.map(({ name, default: initial }) => [name, read(name, initial)]),
	);
}

/** Each problem begins with the display name of its field. */
export function checkForm<T>(
	form: Form<T>,
	values: Record<string, unknown>,
	expressionProblems: Problem[] = [],
): { data?: T; problems: string[] } {
	const { properties, schema } = form;
	// Comes first, so that the schema searches no long texts.
	const excess = firstExcess(form, values);
	const { data, error } = excess ? { error: { issues: [excess] } } : schema.safeParse(values);
	if (!error && expressionProblems.length === 0) return { data, problems: [] };
	const reported = new Set(expressionProblems.map(({ path }) => path.join('.')));
	const others = (error?.issues ?? []).filter(({ path }) => !reported.has(path.join('.')));
	const problems = [...expressionProblems, ...others].map(({ path, message }) =>
		quoteText(`${displayPath(properties, path)} ${message}`, LONGEST_PROBLEM),
	);
	return { problems };
}

/** A text that only informs may be too long: it is left out. */
function firstExcess(form: Form<unknown>, values: Record<string, unknown>): Problem | undefined {
	const infos = infoPaths(form, values);
	for (const excess of findExcess(values)) {
		const isInfo = infos.some((path) => isEqual(path, excess.path.slice(0, path.length)));
		if (!isInfo) return excess;
	}
	return undefined;
}

function infoPaths({ purposes }: Form<unknown>, values: Record<string, unknown>): Path[] {
	return Object.entries(purposes)
		.filter(([, purpose]) => purpose === 'informs')
		.flatMap(([pattern]) => matchingPaths(pattern.split('.'), values));
}

type FormEntry = INodeProperties | INodePropertyCollection | INodePropertyOptions;

/** `['cart', 'items', 0, 'price']` is `Cart > Item 1 > Price`. */
export function displayPath(properties: INodeProperties[], path: Path): string {
	const labels: string[] = [];
	let entries: FormEntry[] = properties;
	for (const key of path) {
		if (typeof key === 'number') {
			labels.push(`${labels.pop()} ${key + 1}`);
			continue;
		}
		const entry = entries.find(({ name }) => name === key);
		labels.push(entry && 'displayName' in entry ? entry.displayName : key);
		entries = entry ? childEntries(entry) : [];
	}
	return labels.join(' > ');
}

const INDEX = /(?<![^.])\d+(?![^.])/g;

/** The platform's field `cart.0.price` is `Cart > Item 1 > Price`. */
export function fieldLabel(
	{ properties, serviceFields }: Form<unknown>,
	serviceField: string,
): string | undefined {
	const pattern = serviceField.replace(INDEX, '*');
	// The platform may name any field, including `constructor`.
	const parameter = Object.hasOwn(serviceFields, pattern) ? serviceFields[pattern] : undefined;
	if (parameter === undefined) return undefined;
	const indexes = serviceField.match(INDEX) ?? [];
	const path = parameter
		.split('.')
		.flatMap((key): Path => (key === '*' ? indexes.splice(0, 1).map(Number) : [key]));
	return displayPath(properties, path);
}

function childEntries(entry: FormEntry): FormEntry[] {
	if ('values' in entry) return entry.values;
	return 'options' in entry ? (entry.options ?? []) : [];
}

/** Matches `{{ code }}` in an expression. n8n treats a brace after a backslash as text. */
const PART = /(?<!\\)\{\{(.*?)(?<!\\)\}\}/gs;
const BLANK_RESULTS = new Set(['', 'undefined', 'null', 'NaN', '[object Object]']);
/** For `"order-" + undefined` in one expression. */
const BLANK_WITHIN_TEXT =
	/undefined|Invalid Date|(?<![\p{L}\p{N}])(?:null|NaN)(?![\p{L}\p{N}])|\[object Object\]/u;
const BY_MODEL = /\$fromAI\b/i;

/**
 * Finds expressions that break the rule of their field. Otherwise an empty Quantity would be charged as 1, and all
 * orders could share one Order Reference.
 */
function findExpressionProblems(
	{ purposes }: Form<unknown>,
	rawValues: Record<string, unknown>,
	values: Record<string, unknown>,
	evaluate: (part: string) => unknown,
): Problem[] {
	const checked = Object.entries(purposes).filter(([, purpose]) => purpose !== 'informs');
	return checked.flatMap(([pattern, purpose]) =>
		matchingPaths(pattern.split('.'), rawValues).flatMap((path) => {
			const raw = locatorValue(get(rawValues, path));
			if (typeof raw !== 'string' || !raw.startsWith('=')) return [];
			const value = locatorValue(get(values, path));
			const message = expressionProblem(raw.slice(1), value, purpose, evaluate);
			return message === undefined ? [] : [{ path, message }];
		}),
	);
}

export function locatorValue(value: unknown): unknown {
	return isJsonObject(value) && '__rl' in value ? value.value : value;
}

function expressionProblem(
	expression: string,
	value: unknown,
	purpose: Purpose,
	evaluate: (part: string) => unknown,
): string | undefined {
	if (purpose === 'confirms') {
		return BY_MODEL.test(expression) ? 'must be filled in by a person, not by a model' : undefined;
	}
	const mayBeBlank = (code: string): boolean => purpose !== 'guards' && BY_MODEL.test(code);
	if (!isJsonObject(value) && isNothing(value)) {
		return mayBeBlank(expression) ? undefined : 'is empty: its expression returned nothing';
	}
	const parts = [...expression.matchAll(PART)].map(([part]) => part);
	const isOnePart = parts[0] === expression;
	if (!isOnePart) {
		for (const part of parts) {
			const given = evaluate(part);
			if (isNothing(given) && !mayBeBlank(part)) {
				return `is incomplete: ${part} returned ${isJsonObject(given) ? 'an object' : 'nothing'}`;
			}
			if (purpose === 'json' && typeof given === 'string' && breaksJson(given)) {
				return `is broken by a quotation mark or backslash from ${part}: make the whole field one expression, such as {{ { coupon: $json.coupon } }}`;
			}
			if (typeof given === 'number' && Math.abs(given) > Number.MAX_SAFE_INTEGER) {
				return `contains a number that is too large: make ${part} text`;
			}
		}
	}
	return purpose === 'guards' && isShortText(value) && BLANK_WITHIN_TEXT.test(value)
		? 'is incomplete: a part of its expression returned nothing'
		: undefined;
}

function breaksJson(text: string): boolean {
	return /["\\]/.test(text) && jsonParse<unknown>(text, { fallbackValue: null }) === null;
}

function isNothing(value: unknown): boolean {
	const text = String(value);
	return isShortText(text) && BLANK_RESULTS.has(cleanText(text));
}

/** Longer texts are refused anyway, and searching them could be slow. */
function isShortText(value: unknown): value is string {
	return typeof value === 'string' && value.length <= LONGEST_TEXT;
}

/** In a pattern, `*` is any index. */
function matchingPaths([key, ...rest]: string[], value: unknown): Path[] {
	if (key === undefined) return [[]];
	const keys = key === '*' && Array.isArray(value) ? value.keys() : [key];
	return [...keys].flatMap((own) =>
		matchingPaths(rest, get(value, own)).map((path): Path => [own, ...path]),
	);
}
