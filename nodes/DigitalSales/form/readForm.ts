import get from 'lodash/get';
import {
	type IExecuteFunctions,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
	NodeOperationError,
} from 'n8n-workflow';
import { bounded } from './fields';
import type { Form, Weight } from './formOf';
import { cleanText, LONGEST_TEXT, quoted } from '../domain/text';
import { isJsonObject } from '../shared/json';

/** The name of a field may come from a row. */
const LONGEST_PROBLEM = 500;
const GAP_ADVICE = 'Correct the expression or the data, or clear the field.';

/**
 * Reads the parameters of one item.
 *
 * @throws NodeOperationError that names the parameter by its display name, the item and what to change
 */
export function readForm<T>(context: IExecuteFunctions, itemIndex: number, form: Form<T>): T {
	const values = valuesOf(form, (name, initial) =>
		context.getNodeParameter(name, itemIndex, initial),
	);
	const raw = valuesOf(form, (name, initial) =>
		context.getNodeParameter(name, itemIndex, initial, { rawExpressions: true }),
	);
	const evaluate = (part: string): unknown => context.evaluateExpression(part, itemIndex);
	const gaps = gapsIn(form, raw, values, evaluate);
	const { data, problems } = checkForm(form, values, gaps);
	if (data) return data;
	throw new NodeOperationError(context.getNode(), problems.slice(0, 1).join(), {
		itemIndex,
		description: [
			...(gaps.length > 0 ? [GAP_ADVICE] : []),
			...problems.slice(1).map((problem) => `Also: ${problem}.`),
		].join('\n'),
	});
}

/** The parameters of a form; one that the form does not show is missing, so its default counts. */
export function valuesOf(
	{ properties }: Pick<Form<never>, 'properties'>,
	read: (name: string, initial: INodeProperties['default']) => unknown,
): Record<string, unknown> {
	const fields = properties.filter(({ type }) => type !== 'notice');
	return Object.fromEntries(
		fields.map(({ name, default: initial }) => [name, read(name, initial)]),
	);
}

/** What the values of a form say, or all that is wrong, each with the display name of its field. */
export function checkForm<T>(
	{ properties, schema }: Form<T>,
	values: Record<string, unknown>,
	gaps: Gap[] = [],
): { data?: T; problems: string[] } {
	const result = bounded(schema).safeParse(values);
	if (result.success && gaps.length === 0) return { data: result.data, problems: [] };
	const ofGaps = new Set(gaps.map(({ path }) => path.join('.')));
	const others = (result.error?.issues ?? []).filter(({ path }) => !ofGaps.has(path.join('.')));
	const problems = [...gaps, ...others].map(({ path, message }) =>
		quoted(`${displayPath(properties, path)} ${message}`, LONGEST_PROBLEM),
	);
	return { problems };
}

/** A mistake in the parameters of one item that the schema of the form cannot find. */
export function mistake(
	context: IExecuteFunctions,
	itemIndex: number,
	message: string,
	advice: string,
): NodeOperationError {
	return new NodeOperationError(context.getNode(), message, {
		itemIndex,
		description: advice,
	});
}

type FormEntry = INodeProperties | INodePropertyCollection | INodePropertyOptions;

/**
 * The path of a value in the words of the form: `['cart', 'items', 0, 'price']` gives
 * `Cart > Item 1 > Price`. Unknown names stay as they are.
 */
export function displayPath(
	properties: INodeProperties[],
	path: ReadonlyArray<string | number>,
): string {
	const labels: string[] = [];
	let entries: FormEntry[] = properties;
	for (const key of path) {
		if (typeof key === 'number') {
			labels.push(`${labels.pop()} ${key + 1}`);
			continue;
		}
		const entry = entries.find(({ name }) => name === key);
		labels.push(entry === undefined ? key : labelOf(entry));
		entries = entry === undefined ? [] : childrenOf(entry);
	}
	return labels.join(' > ');
}

/**
 * The label of the parameter behind a dotted field of the service: `cart.0.price` gives
 * `Cart > Item 1 > Price`; undefined if the form has no such parameter.
 */
export function fieldLabel(
	{ properties, serviceFields }: Pick<Form<never>, 'properties' | 'serviceFields'>,
	serviceField: string,
): string | undefined {
	const keys = serviceField.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key));
	const pattern = keys.map((key) => (typeof key === 'number' ? '*' : key)).join('.');
	// The service may name any field, also `constructor`.
	const parameter = Object.hasOwn(serviceFields, pattern) ? serviceFields[pattern] : undefined;
	if (parameter === undefined) return undefined;
	const indexes = keys.filter((key) => typeof key === 'number');
	const path = parameter
		.split('.')
		.flatMap((key): Array<string | number> => (key === '*' ? indexes.splice(0, 1) : [key]));
	return displayPath(properties, path);
}

function labelOf(entry: FormEntry): string {
	return 'displayName' in entry ? entry.displayName : entry.name;
}

function childrenOf(entry: FormEntry): FormEntry[] {
	if ('values' in entry) return entry.values;
	return 'options' in entry ? (entry.options ?? []) : [];
}

type Path = Array<string | number>;

/** An expression that gave nothing. */
interface Gap {
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
function gapsIn(
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
	if (weight === 'seen') {
		return BY_MODEL.test(expression) ? 'must be filled in by a person, not by a model' : undefined;
	}
	const mayBeBlank = (code: string): boolean => weight === 'decides' && BY_MODEL.test(code);
	const isObject = isJsonObject(value);
	if (!isObject && givesNothing(value)) {
		return mayBeBlank(expression) ? undefined : 'is an expression that gave nothing';
	}
	const parts = [...expression.matchAll(PART)].map(([part]) => part);
	if (parts[0] !== expression) {
		for (const part of parts) {
			const given = evaluate(part);
			if (givesNothing(given) && !mayBeBlank(part)) return `has a part that gave nothing: ${part}`;
			if (typeof given === 'number' && Math.abs(given) > Number.MAX_SAFE_INTEGER) {
				return `has a part that is too large for a number; make it text: ${part}`;
			}
		}
	}
	return weight === 'guards' && isReadable(value) && MISSING.test(value)
		? 'is an expression that gave nothing in a part of it'
		: undefined;
}

function givesNothing(value: unknown): boolean {
	const text = String(value);
	return isReadable(text) && NOTHING.has(cleanText(text));
}

/** A longer text is refused for its length, and not looked through before. */
function isReadable(value: unknown): value is string {
	return typeof value === 'string' && value.length <= LONGEST_TEXT;
}

/** The paths in a value that a pattern stands for; `*` is any index. */
function pathsTo([key, ...rest]: string[], value: unknown): Path[] {
	if (key === undefined) return [[]];
	const keys = key === '*' && Array.isArray(value) ? value.keys() : [key];
	return [...keys].flatMap((one) =>
		pathsTo(rest, get(value, one)).map((path): Path => [one, ...path]),
	);
}
