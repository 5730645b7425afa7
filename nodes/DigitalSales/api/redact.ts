/** Replaces every token of an account in a text that came from outside. */
export type Redactor = (text: string) => string;

const REPLACEMENT = '[token removed]';
const SHORTEST_TOKEN = 4;

/**
 * Makes the function that takes an account's tokens out of a text. A service may echo a request with
 * its headers, so everything that comes back passes through here before anything else reads it. The
 * text may be JSON or part of a URL, hence the escaped spellings beside the plain one.
 */
export function createRedactor(tokens: ReadonlyArray<string | undefined>): Redactor {
	const spellings = new Set<string>();
	for (const token of tokens) {
		if (token === undefined || token.length < SHORTEST_TOKEN) continue;
		const json = JSON.stringify(token).slice(1, -1);
		spellings.add(token);
		spellings.add(json);
		spellings.add(json.replaceAll('/', '\\/'));
		spellings.add(encodeURIComponent(token));
	}
	const longestFirst = [...spellings].sort((a, b) => b.length - a.length);
	return (text) =>
		longestFirst.reduce((clean, spelling) => clean.replaceAll(spelling, REPLACEMENT), text);
}
