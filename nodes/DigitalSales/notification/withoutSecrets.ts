import { isJsonObject } from '../api/schemas/json';

/** Far deeper than any real notice; n8n itself cannot store what is nested ten thousand deep. */
const DEEPEST = 32;
const SECRET_NAME = /token|secret|password|api[-_ ]?key|^authorization$/i;

/**
 * JSON without the fields whose name says that they hold a secret, at any depth. What is nested
 * deeper than a notice ever is becomes null.
 */
export function withoutSecrets(value: unknown, depth = 0): unknown {
	const isList = Array.isArray(value);
	if (!isList && !isJsonObject(value)) return value;
	if (depth === DEEPEST) return null;
	if (isList) return value.map((entry) => withoutSecrets(entry, depth + 1));
	return Object.fromEntries(
		Object.entries(value)
			.filter(([name]) => !SECRET_NAME.test(name))
			.map(([name, entry]) => [name, withoutSecrets(entry, depth + 1)]),
	);
}
