import { clock } from '../shared/clock';
import type { BodyStream } from '../n8n/httpHelper';
import { kindOfStatus } from './retryTable';
import type { Outcome } from './serviceError';
import type { Redactor } from './redact';
import { readServiceWords, saysFailure } from './schemas/error';

/** @internal Far more than the largest page of products. */
export const MOST_BODY_BYTES = 16_777_216;

/**
 * Reads a body to its end. n8n's HTTP helper knows no bound, its time-out ends a silent connection
 * only, and what it has read stays in memory with the closed connection.
 *
 * @param late ends the reading, however much is still coming in
 * @returns the body, for {@link decodeBody}; undefined if it is more than {@link MOST_BODY_BYTES}
 * @throws Error if the connection broke or the time was up before the end
 */
export async function readBody(
	stream: BodyStream,
	late: AbortSignal,
): Promise<Buffer[] | undefined> {
	const chunks: Buffer[] = [];
	let size = 0;
	let giveUp: () => void = () => undefined;
	try {
		const isWhole = await new Promise<boolean>((resolve, reject) => {
			// Settled before the stream is destroyed: n8n's stream then claims to have ended. A stream that
			// has ended is left alone: its connection may carry the next request already.
			giveUp = () => {
				reject(new Error('The answer did not end in time'));
				stream.destroy();
			};
			stream.on('data', (chunk) => {
				size += chunk.length;
				if (size <= MOST_BODY_BYTES) {
					chunks.push(chunk);
				} else {
					resolve(false);
					stream.destroy();
				}
			});
			stream.on('end', () => resolve(true));
			stream.on('error', reject);
			stream.on('close', () => reject(new Error('The answer broke off')));
			late.addEventListener('abort', giveUp);
			if (late.aborted) giveUp();
		});
		return isWhole ? chunks : undefined;
	} finally {
		late.removeEventListener('abort', giveUp);
	}
}

/**
 * Decodes the chunks of a body as UTF-8 and empties them: the closed connection keeps its listeners
 * for long, which would keep every page of a list.
 */
export function decodeBody(chunks: Buffer[]): string {
	return Buffer.concat(chunks.splice(0)).toString('utf8');
}

/** Somewhere in a body. */
const HASH = /"(?:transaction_)?hash"\s*:\s*(?:"\s*[^"\s]|\d)/;

/** By lower-case name. */
type Headers = Readonly<Record<string, unknown>>;

/** In characters: a failure is described in few. */
const LONGEST_FAILURE = 1_048_576;

/**
 * The outcome of a request that was answered.
 *
 * @param text undefined if it was too large
 */
export function readResponse(
	{ status, headers, text }: { status: number; headers: Headers; text: string | undefined },
	redact: Redactor,
): Outcome & { status: number } {
	const byStatus = kindOfStatus(status);
	const isSuccess = byStatus === 'success';
	const isRedirect = status >= 300 && status < 400;
	const { json: body, problem } = readContent(text, isSuccess ? Infinity : LONGEST_FAILURE, redact);
	// With a hash there is a transaction or an offer, or may be, whatever else is said.
	const isRefusal = (isSuccess || status === 409) && saysFailure(body) && !HASH.test(text ?? '');
	return {
		kind: isRefusal ? 'rejected' : (isSuccess && problem) || byStatus,
		status,
		body,
		words: readServiceWords(body),
		isWebPage: problem === 'webPage' && byStatus !== 'unavailable' && !isRedirect,
		redirectedTo: isRedirect ? redirectTarget(headers.location, redact) : undefined,
		retryAfterMs: retryAfterMs(headers),
	};
}

function readContent(
	raw: string | undefined,
	longest: number,
	redact: Redactor,
): { json?: unknown; problem?: 'unreadable' | 'tooLarge' | 'webPage' } {
	if (raw === undefined) return { problem: 'tooLarge' };
	const text = raw.replace(/^\ufeff/, '').trim();
	if (/^<(!doctype|html|\?xml|head|body)/i.test(text)) return { problem: 'webPage' };
	if (text.length > longest) return { problem: 'tooLarge' };
	try {
		return { json: redact.json(JSON.parse(text)) };
	} catch {
		return { problem: 'unreadable' };
	}
}

/** The query of a redirect may carry a token, so only origin and path are kept. */
function redirectTarget(location: unknown, redact: Redactor): string | undefined {
	if (typeof location !== 'string') return undefined;
	if (!URL.canParse(location)) return redact.text(location.replace(/[?#].*/s, ''));
	const { origin, pathname } = new URL(location);
	return redact.text(origin + pathname);
}

const LONGEST_RETRY_AFTER_MS = 300_000;

/**
 * How long an answer asks to wait by `Retry-After`, in seconds or as a date. A moment that has passed is
 * ignored, since the clocks may differ. A proxy may ask for a day, so there is a cap.
 *
 * @internal
 */
export function retryAfterMs(headers: Headers): number | undefined {
	const value = String(headers['retry-after']).trim();
	const isDate = /[a-z]/i.test(value);
	const asked = isDate
		? Date.parse(value) - clock.now()
		: /^\d{1,15}$/.test(value)
			? Number(value) * 1_000
			: 0;
	return asked > 0 ? Math.min(LONGEST_RETRY_AFTER_MS, asked) : undefined;
}
