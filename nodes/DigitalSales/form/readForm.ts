import { findLast, isNumber, omit, uniqBy } from 'lodash';
import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { NotSentError } from '../output';
import type { Form, Path, Problem } from './defineForm';
import { findExpressionProblems } from './expressions';

const EXPRESSION_ADVICE = 'Correct the expression or the data, or clear the field.';

/**
 * @param addHint gets a message for each field that is left out
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
	const values = leaveOutInfos(form, readAll(false), addHint);
	const expressionProblems = findExpressionProblems(form, readAll(true), values, (part) =>
		context.evaluateExpression(part, itemIndex),
	);

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
	return Object.fromEntries(
		properties.map((field) => [field.name, read(field.name, field.default)]),
	);
}

/** A field that only informs is left out if it cannot be read. */
function leaveOutInfos(
	form: Form<unknown>,
	values: Record<string, unknown>,
	addHint: (message: string) => void,
): Record<string, unknown> {
	const infos = form.fields.filter(({ purpose }) => purpose === 'informs').map(({ path }) => path);
	const { error } = form.schema.safeParse(values);
	const problems = (error?.issues ?? []).filter(({ path }) =>
		infos.includes(path.join('.').replace(INDEX, '*')),
	);

	for (const { path, message } of problems) {
		addHint(`${displayPath(form, path)} was left out, because it ${message}.`);
	}

	const leftOut = problems.map(({ path }) => path.join('.'));
	return omit(values, leftOut);
}

/** Each problem begins with the display name of its field. */
export function checkForm<T>(
	form: Form<T>,
	values: Record<string, unknown>,
	expressionProblems: Problem[] = [],
): { data?: T; problems: string[] } {
	const { data, error } = form.schema.safeParse(values);
	const all = [...expressionProblems, ...(error?.issues ?? [])];
	const problems = uniqBy(all, ({ path }) => path.join('.')).map(
		({ path, message }) => `${displayPath(form, path)} ${message}`,
	);

	return { data: problems.length === 0 ? data : undefined, problems };
}

/** A whole part of a dotted path, such as the 0 of `cart.0.price`. */
const INDEX = /(?<![^.])\d+(?![^.])/g;

/** `['cart', 'items', 0, 'price']` is `Cart > Item 1 > Price`. */
export function displayPath({ fields }: Form<unknown>, path: Path): string {
	const pattern = `${path.join('.').replace(INDEX, '*')}.`;
	const field = findLast(fields, (one) => pattern.startsWith(`${one.path}.`));
	if (field === undefined) return path.join(' > ');

	const own = field.path.split('.').length;
	const within = path.slice(own).map((key) => (isNumber(key) ? ` ${key + 1}` : ` > ${key}`));
	return numbered(field.label, path.slice(0, own).find(isNumber) ?? NaN) + within.join('');
}

/** The platform's field `cart.0.price` is `Cart > Item 1 > Price`. */
export function fieldLabel({ fields }: Form<unknown>, serviceField: string): string | undefined {
	const pattern = serviceField.replace(INDEX, '*').replace(/\.\*$/, '');
	const field = fields.find(({ sentAs }) => sentAs === pattern);
	const [index] = serviceField.match(INDEX) ?? [];

	return field && numbered(field.label, Number(index));
}

/** @param index NaN if the platform writes `cart.*.price` */
function numbered(label: string, index: number): string {
	return label.replace(' *', Number.isNaN(index) ? '' : ` ${index + 1}`);
}
