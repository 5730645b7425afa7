import { z } from 'zod';
import { bodyStream } from './body';
import type { Headers } from './limitHeaders';
import { MOST_LEVELS, type Redactor } from './redact';
import { readServiceWords, saysFailure, type ServiceWords } from './schemas/error';
import { situationOfStatus, type Situation } from './retryPolicy';
import type { UnreadableReason } from './serviceError';

/** One answer of the service, read as far as JSON; the tokens are out of it. */
export interface Answer {
	situation: Situation;
	status: number;
	headers: Headers;
	/** The parsed JSON, or undefined where there was none. */
	body: unknown;
	/** What the service says of a failure in it. */
	words: ServiceWords;
	unreadable?: UnreadableReason;
	redirectedTo?: string;
}

/** The full response of n8n's HTTP helper, its body still on its way. */
export const responseHead = z.object({
	statusCode: z.number(),
	headers: z.record(z.unknown()).catch({}),
	body: bodyStream,
});

/** What has come of one answer. */
export interface Arrived {
	status: number;
	headers: Headers;
	/** Undefined where it is too large to be read. */
	text: string | undefined;
}

/** In characters: what a service says of a failure is short, and it is read on the event loop. */
const LONGEST_FAILURE = 1_048_576;
/** In characters: what is shorter is parsed in no time, however deep it is. */
const LONGEST_UNMEASURED = 131_072;

/** Reads an answer that has arrived. */
export function readAnswer({ status, headers, text }: Arrived, redact: Redactor): Answer {
	const situation = situationOfStatus(status);
	const longest = situation === 'success' ? Infinity : LONGEST_FAILURE;
	const content = readContent(text, longest, redact);
	const words = readServiceWords(content.json);
	const answer: Answer = { situation, status, headers, body: content.json, words };
	if (status >= 300 && status < 400) {
		answer.redirectedTo = redirectTarget(headers.location, redact);
	} else if (content.unreadable === 'html' && situation !== 'unavailable') {
		answer.unreadable = 'html';
	}
	if (status === 409 && saysFailure(content.json)) answer.situation = 'rejected';
	if (situation === 'success') {
		if (content.unreadable) {
			answer.situation = 'unreadable';
			answer.unreadable = content.unreadable;
		} else if (saysFailure(content.json)) {
			answer.situation = 'rejected';
		}
	}
	return answer;
}

function readContent(
	raw: string | undefined,
	longest: number,
	redact: Redactor,
): { json?: unknown; unreadable?: UnreadableReason } {
	if (raw === undefined) return { unreadable: 'tooLarge' };
	const text = raw.replace(/^\ufeff/, '').trim();
	if (text === '') return { unreadable: 'empty' };
	if (/^<(!doctype|html|\?xml|head|body)/i.test(text)) return { unreadable: 'html' };
	if (text.length > longest) return { unreadable: 'tooLarge' };
	if (text.length > LONGEST_UNMEASURED && isTooDeep(text)) return { unreadable: 'tooDeep' };
	try {
		const json = redact.json(JSON.parse(text));
		return json === undefined ? { unreadable: 'tooDeep' } : { json };
	} catch {
		return { unreadable: 'notJson' };
	}
}

/** Whether JSON is nested too deep, told without parsing: that would fill the memory with levels. */
function isTooDeep(text: string): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const sign = text.charAt(at);
		if (sign === '"') at = endOfString(text, at);
		else if (sign === '[' || sign === '{') depth++;
		else if (sign === ']' || sign === '}') depth--;
		if (depth > MOST_LEVELS) return true;
	}
	return false;
}

/** Where a string of JSON ends: at the next quote that has an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
	let end = start;
	let first: number;
	do {
		end = text.indexOf('"', end + 1);
		if (end < 0) return text.length;
		first = end;
		while (text.charAt(first - 1) === '\\') first--;
	} while ((end - first) % 2 === 1);
	return end;
}

/** The query of a redirect may carry a token, so only origin and path are kept. */
function redirectTarget(location: unknown, redact: Redactor): string | undefined {
	if (typeof location !== 'string') return undefined;
	if (!URL.canParse(location)) return redact.anyCase(location.replace(/[?#].*/s, ''));
	const { origin, pathname } = new URL(location);
	return redact.anyCase(origin + pathname);
}
