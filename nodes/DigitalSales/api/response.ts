import type { BodyStream } from '../n8n';
import { clock, parseJson, unlessCanceled } from '../shared';
import type { AnswerKind } from './retryTable';
import type { Answer } from './serviceError';
import type { Redactor } from './redact';
import { parseServiceWords, saysFailure } from './schemas/answer';

/** @internal */
export const MOST_BODY_BYTES = 16_777_216;

/**
 * n8n's HTTP helper limits neither the size of a body nor its time.
 *
 * @returns undefined if the body is too large
 * @throws Error if the connection breaks; CanceledError as soon as the time is up
 */
export async function readBody(
	stream: BodyStream,
	deadline: AbortSignal,
): Promise<string | undefined> {
	try {
		return await unlessCanceled(readWhole(stream), deadline);
	} finally {
		stream.destroy();
	}
}

async function readWhole(stream: BodyStream): Promise<string | undefined> {
	const chunks: Buffer[] = [];
	let size = 0;

	for await (const chunk of stream) {
		size += chunk.length;
		if (size > MOST_BODY_BYTES) return undefined;
		chunks.push(chunk);
	}

	// A stream that was closed before sends nothing, and no error.
	if (!stream.readableEnded) throw new Error('The answer broke off');
	return Buffer.concat(chunks).toString('utf8');
}

/** @internal */
export function kindOfStatus(status: number): AnswerKind {
	if (status >= 200 && status < 300) return 'success';
	if (status === 302 || status === 303) return 'seeOther';
	if (status >= 300 && status < 400) return 'redirected';
	if (status === 401 || status === 403) return 'badToken';
	if (status === 404) return 'notFound';
	if (status === 429) return 'rateLimited';
	if ([408, 425, 499, 502, 503, 504].includes(status) || status >= 520) return 'unavailable';
	if (status === 409 || status >= 500) return 'unclear';
	return 'rejected';
}

const HASH = /"(?:transaction_)?hash"\s*:\s*(?:"\s*[^"\s]|\d)/;

type Headers = Readonly<Record<string, unknown>>;

/** @param text undefined if the body was too large */
export function parseResponse(
	response: { status: number; headers: Headers; text: string | undefined },
	redact: Redactor,
): Answer & { body: unknown } {
	const { status, headers } = response;
	const text = response.text ?? '';
	const body = readJson(text, redact);
	const statusKind = kindOfStatus(status);
	const isSuccess = statusKind === 'success';
	const isRedirect = statusKind === 'redirected' || statusKind === 'seeOther';
	const isPage = /^<(!doctype|html|\?xml|head|body)/i.test(text.trim());
	// In a 2xx or a 409, a hash means that something may exist.
	const isRefusal = (isSuccess || status === 409) && saysFailure(body) && !HASH.test(text);

	let kind = statusKind;
	if (isSuccess && isPage) kind = 'webPage';
	if (isRefusal) kind = 'rejected';

	return {
		kind,
		status,
		body,
		words: parseServiceWords(body),
		// A page of a proxy or redirect does not mean a wrong path.
		isWebPage: isPage && statusKind !== 'unavailable' && !isRedirect,
		redirectedTo: redirectTarget(isRedirect && headers.location, redact),
		retryAfterMs: readRetryAfter(headers),
	};
}

/** @returns undefined if the text is no JSON, or is nested too deeply */
function readJson(text: string, redact: Redactor): unknown {
	try {
		return redact.json(parseJson(text));
	} catch {
		return undefined;
	}
}

/** Leaves out the query, which may carry a token. */
function redirectTarget(location: unknown, redact: Redactor): string | undefined {
	if (typeof location !== 'string') return undefined;
	if (!URL.canParse(location)) return redact.text(location.replace(/[?#].*/s, ''));
	const { origin, pathname } = new URL(location);
	return redact.text(origin + pathname);
}

/** A proxy may ask for a day. */
const LONGEST_RETRY_AFTER_MS = 300_000;

/**
 * Ignores a date in the past, because clocks differ.
 *
 * @internal
 */
export function readRetryAfter(headers: Headers): number | undefined {
	const value = String(headers['retry-after']).trim();
	const isNumber = /^\d+$/.test(value);
	// A missing header becomes NaN.
	const askedMs = isNumber ? Number(value) * 1_000 : Date.parse(value) - clock.now();

	if (askedMs > 0) return Math.min(LONGEST_RETRY_AFTER_MS, askedMs);
	return undefined;
}
