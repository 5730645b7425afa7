import isPlainObject from 'lodash/isPlainObject';
import { isJsonObject } from '../shared/json';

/** Far deeper than any real notice; n8n itself cannot store what is nested ten thousand deep. */
const DEEPEST = 32;
const SECRET_NAME = /token|secret|password|api[-_ ]?key|^authorization$/i;

/**
 * What of a parsed body is JSON, without the fields whose name says that they hold a secret, at any
 * depth. What is nested deeper than a notice ever is becomes null. The files of a form are left out,
 * and so is an object that stands there a second time: in JSON there is none.
 */
export function withoutSecrets(value: unknown, depth = 0, seen: Set<unknown> = new Set()): unknown {
	if (!isContainer(value)) return isScalar(value) ? value : undefined;
	if (seen.has(value)) return undefined;
	if (depth === DEEPEST) return null;
	seen.add(value);
	const clean = (entry: unknown): unknown => withoutSecrets(entry, depth + 1, seen);
	if (Array.isArray(value)) return value.map((entry) => clean(entry) ?? null);
	return Object.fromEntries(
		Object.entries(value)
			.filter(([name]) => !SECRET_NAME.test(name))
			.map(([name, entry]) => [name, clean(entry)])
			.filter(([, entry]) => entry !== undefined),
	);
}

/** Whether it is a list or an object of JSON: n8n's files of a form hold streams, and each other. */
export function isContainer(value: unknown): value is unknown[] | Record<string, unknown> {
	return Array.isArray(value) || (isJsonObject(value) && isPlainObject(value));
}

function isScalar(value: unknown): boolean {
	return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
