import { z } from 'zod';
import { bodyStream } from './body';
import type { Headers } from './limitHeaders';
import type { Redactor } from './redact';
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

/** Reads an answer that has arrived. */
export function readAnswer({ status, headers, text }: Arrived, redact: Redactor): Answer {
	const content = readContent(text, redact);
	const situation = situationOfStatus(status);
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
	redact: Redactor,
): { json?: unknown; unreadable?: UnreadableReason } {
	if (raw === undefined) return { unreadable: 'tooLarge' };
	const text = raw.replace(/^\ufeff/, '').trim();
	if (text === '') return { unreadable: 'empty' };
	try {
		const json = redact.json(JSON.parse(text));
		return json === undefined ? { unreadable: 'tooDeep' } : { json };
	} catch {
		return { unreadable: /^<(!doctype|html|\?xml|head|body)/i.test(text) ? 'html' : 'notJson' };
	}
}

/** The query of a redirect may carry a token, so only origin and path are kept. */
function redirectTarget(location: unknown, redact: Redactor): string | undefined {
	if (typeof location !== 'string') return undefined;
	if (!URL.canParse(location)) return redact.text(location.replace(/[?#].*/s, ''));
	const { origin, pathname } = new URL(location);
	return redact.text(origin + pathname);
}
