import { EscapeSearch, newEffort, type Effort, type Span } from './escapes';

/** Takes the tokens of an account out of what came from outside. */
export interface Redactor {
	/** Replaces the tokens in a text, also if they are escaped for JSON, URLs or HTML. */
	text(text: string): string;
	/** The same, whatever the case of the letters: the host of an address has small ones. */
	anyCase(text: string): string;
	/** Replaces the tokens in the texts, names and numbers of parsed JSON, in place: it may be large. */
	json(value: unknown): unknown;
}

const REPLACEMENT = '[token removed]';
/** For what takes too long to search, and is no text that anybody has written. */
const UNSEARCHABLE = '[text removed: too many escapes]';
const SHORTEST_TOKEN = 4;
const MARK_OF_ESCAPE = /[\\%&]/;

/**
 * Makes the redactor of an account's tokens. A service may echo a request with its headers, so
 * everything that comes back passes through it first. A token that was split, or encoded in another
 * way (base64), is not found.
 */
export function createRedactor(tokens: ReadonlyArray<string | undefined>): Redactor {
	const words = [...new Set(tokens)].filter(isToken);
	const shortest = Math.min(...words.map((word) => word.length));
	const numbers = new Set(words.map(Number));
	const search = new EscapeSearch(words);

	const cleanText = (text: string, effort: Effort): string => {
		// An escaped token is never shorter than the token.
		if (text.length < shortest) return text;
		if (!MARK_OF_ESCAPE.test(text) && !words.some((word) => text.includes(word))) return text;
		const parts = search.find(text, effort);
		return parts ? replace(text, parts) : UNSEARCHABLE;
	};
	const cleanValue = (value: unknown, effort: Effort): unknown => {
		if (typeof value === 'string') return cleanText(value, effort);
		return typeof value === 'number' && numbers.has(Math.abs(value)) ? REPLACEMENT : value;
	};
	/** @param inner collects the containers inside */
	const cleanContainer = (container: Container, inner: Container[], effort: Effort): void => {
		if (Array.isArray(container)) {
			for (let index = 0; index < container.length; index++) {
				const value = container[index];
				if (isContainer(value)) inner.push(value);
				else container[index] = cleanValue(value, effort);
			}
			return;
		}
		for (const name of Object.keys(container)) {
			const value = container[name];
			const clean = cleanValue(value, effort);
			const cleanName = cleanText(name, effort);
			if (isContainer(value)) inner.push(value);
			if (clean === value && cleanName === name) continue;
			if (cleanName !== name) delete container[name];
			container[cleanName] = clean;
		}
	};

	return {
		text: (text) => cleanText(text, newEffort()),
		anyCase: (text) => {
			const lower = (mixed: string): string => mixed.replace(/[A-Z]+/g, (run) => run.toLowerCase());
			const inLower = new EscapeSearch(words.map(lower));
			const clean = cleanText(text, newEffort());
			const parts = words.length === 0 ? [] : inLower.find(lower(clean), newEffort());
			return parts ? replace(clean, parts) : UNSEARCHABLE;
		},
		json: (root) => {
			const effort = newEffort();
			const holder = [root];
			let level: Container[] = [holder];
			// Level by level: recursion would overflow.
			while (level.length > 0) {
				const inner: Container[] = [];
				for (const container of level) cleanContainer(container, inner, effort);
				level = inner;
			}
			return holder[0];
		},
	};
}

type Container = unknown[] | Record<string, unknown>;

function isContainer(value: unknown): value is Container {
	return typeof value === 'object' && value !== null;
}

function isToken(token: string | undefined): token is string {
	return token !== undefined && token.length >= SHORTEST_TOKEN;
}

/** Parts may overlap: one token may be the beginning of the other. */
function replace(text: string, parts: Span[]): string {
	let clean = '';
	let end = 0;
	for (const part of parts.sort((a, b) => a.start - b.start)) {
		if (part.start >= end) clean += text.slice(end, part.start) + REPLACEMENT;
		end = Math.max(end, part.end);
	}
	return clean + text.slice(end);
}
