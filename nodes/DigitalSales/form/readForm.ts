import { castArray, clone, get, setWith } from 'lodash';
import type {
	IExecuteFunctions,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
} from 'n8n-workflow';
import { LONGEST_TEXT, quoteText } from '../domain';
import { NotSentError } from '../output';
import type { Form, Path, Problem } from './defineForm';
import { findExpressionProblems, matchingPaths } from './expressions';
import { findExcess, isBlank } from './fields';

/** Nobody corrects more at once. */
const MOST_OTHERS = 10;

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
	const values = leaveOutUnreadable(form, readAll(false), addHint);
	const expressionProblems = findExpressionProblems(form, readAll(true), values, (part) =>
		context.evaluateExpression(part, itemIndex),
	);

	const { data, problems } = checkForm(form, values, expressionProblems);
	if (data) return data;

	const [first = '', ...others] = problems;
	const advice = expressionProblems.length > 0 ? [EXPRESSION_ADVICE] : [];
	const also = others.slice(0, MOST_OTHERS).map((problem) => `Also: ${problem}.`);
	throw new NotSentError(first, [...advice, ...also].join('\n'));
}

/** A hidden field gets its default. */
export function readValues(
	{ properties }: Form<unknown>,
	read: (name: string, initial: INodeProperties['default']) => unknown,
): Record<string, unknown> {
	const fields = properties.filter(({ type }) => type !== 'notice');

	return Object.fromEntries(fields.map((field) => [field.name, read(field.name, field.default)]));
}

/** Each problem begins with the display name of its field. */
export function checkForm<T>(
	form: Form<T>,
	values: Record<string, unknown>,
	expressionProblems: Problem[] = [],
): { data?: T; problems: string[] } {
	// Comes first, so that the schema searches no long texts.
	const excess = findExcess(values);
	const { data, error } = excess ? { error: { issues: [excess] } } : form.schema.safeParse(values);
	if (!error && expressionProblems.length === 0) return { data, problems: [] };

	const reported = new Set(expressionProblems.map(({ path }) => path.join('.')));
	const others = (error?.issues ?? []).filter(({ path }) => !reported.has(path.join('.')));
	const problems = [...expressionProblems, ...others].map(({ path, message }) =>
		quoteText(`${displayPath(form.properties, path)} ${message}`, LONGEST_PROBLEM),
	);

	return { problems };
}

/** A text that only informs is left out, with a hint, if it is no text or too long. */
function leaveOutUnreadable(
	form: Form<unknown>,
	given: Record<string, unknown>,
	addHint: (message: string) => void,
): Record<string, unknown> {
	const infos = form.purposes.filter(({ purpose }) => purpose === 'informs');
	let values = given;

	for (const path of infos.flatMap(({ pattern }) => matchingPaths(pattern.split('.'), given))) {
		const value: unknown = get(given, path);
		if (value === undefined) continue;

		// A list stands for its first text, because an address may repeat a parameter: `?utm_source=a&utm_source=b`.
		const filled = castArray<unknown>(value).filter((one) => !isBlank(one));
		const text = filled.find(isInfo);
		// A copy, because an expression may have returned an object of the input item.
		values = setWith(clone(values), path, text?.toString().trim(), clone);
		if (text === undefined && filled.length > 0) {
			const field = displayPath(form.properties, path);
			addHint(`${field} was left out, because its value is not a text, or is too long.`);
		}
	}

	return values;
}

function isInfo(value: unknown): value is string | number {
	if (typeof value === 'string') return value.length <= LONGEST_TEXT;
	return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
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

function childEntries(entry: FormEntry): FormEntry[] {
	if ('values' in entry) return entry.values;
	return 'options' in entry ? (entry.options ?? []) : [];
}

const INDEX = /(?<![^.])\d+(?![^.])/g;

/** The platform's field `cart.0.price` is `Cart > Item 1 > Price`. */
export function fieldLabel(
	{ properties, serviceFields }: Form<unknown>,
	serviceField: string,
): string | undefined {
	const pattern = serviceField.replace(INDEX, '*');
	const whole = pattern.replace(/\.\*$/, '');
	const parameter = serviceFields.get(pattern) ?? serviceFields.get(whole);
	if (parameter === undefined) return undefined;

	// The platform may write `cart.*.price`, which has no index. The label has no number then.
	const indexes = serviceField.match(INDEX) ?? [];
	const path = parameter
		.split('.')
		.flatMap((key): Path => (key === '*' ? indexes.splice(0, 1).map(Number) : [key]));

	return displayPath(properties, path);
}
