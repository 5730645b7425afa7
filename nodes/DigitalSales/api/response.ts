import { clock, deferred, parseJson } from '../shared';
import type { BodyStream } from '../n8n';
import type { OutcomeKind } from './retryTable';
import type { Outcome } from './serviceError';
import type { Redactor } from './redact';
import { readServiceWords, saysFailure } from './schemas/error';

/** @internal */
export const MOST_BODY_BYTES = 16_777_216;

/**
 * n8n's HTTP helper limits neither the size of a body nor its time.
 *
 * @returns undefined if the body is too large
 * @throws Error if the connection breaks or the time is up
 */
export async function readBody(
	stream: BodyStream,
	deadline: AbortSignal,
): Promise<Buffer[] | undefined> {
	const chunks: Buffer[] = [];
	let size = 0;
	const isWhole = deferred<boolean>();
	// Rejects first, because n8n's stream claims to have ended once it is destroyed.
	const giveUp = (): void => {
		isWhole.reject(new Error('The answer did not end in time'));
		stream.destroy();
	};

	stream.on('data', (chunk) => {
		size += chunk.length;
		if (size <= MOST_BODY_BYTES) {
			chunks.push(chunk);
		} else {
			isWhole.resolve(false);
			stream.destroy();
		}
	});
	stream.on('end', () => isWhole.resolve(true));
	stream.on('error', isWhole.reject);
	stream.on('close', () => isWhole.reject(new Error('The answer broke off')));
	deadline.addEventListener('abort', giveUp);
	if (deadline.aborted) giveUp();

	try {
		return (await isWhole.promise) ? chunks : undefined;
	} finally {
		deadline.removeEventListener('abort', giveUp);
	}
}

/** Empties the array, because a closed connection keeps it in memory for long. */
export function decodeBody(chunks: Buffer[]): string {
	return Buffer.concat(chunks.splice(0)).toString('utf8');
}

const KIND_BY_STATUS = new Map<number, OutcomeKind>([
	...[401, 403].map((status) => [status, 'badToken'] as const),
	[404, 'notFound'],
	[429, 'rateLimited'],
	...[302, 303].map((status) => [status, 'seeOther'] as const),
	...[408, 409, 425, 499].map((status) => [status, 'unclear'] as const),
	...[502, 503, 504].map((status) => [status, 'unavailable'] as const),
]);

export function kindOfStatus(status: number): OutcomeKind {
	const kind = KIND_BY_STATUS.get(status);
	if (kind) return kind;
	if (status >= 500) return 'unclear';
	if (status >= 200 && status < 300) return 'success';
	return status >= 300 && status < 400 ? 'redirected' : 'rejected';
}

const HASH = /"(?:transaction_)?hash"\s*:\s*(?:"\s*[^"\s]|\d)/;

type Headers = Readonly<Record<string, unknown>>;

/** @param text undefined if the body was too large */
export function readResponse(
	{ status, headers, text = '' }: { status: number; headers: Headers; text: string | undefined },
	redact: Redactor,
): Outcome & { status: number } {
	const statusKind = kindOfStatus(status);
	const isSuccess = statusKind === 'success';
	const isRedirect = status >= 300 && status < 400;
	const isPage = /^<(!doctype|html|\?xml|head|body)/i.test(text.trim());
	const body = readJson(text, redact);
	// A hash means that something may exist, whatever else the answer says.
	const isRefusal = (isSuccess || status === 409) && saysFailure(body) && !HASH.test(text);

	let kind = statusKind;
	if (isSuccess && isPage) kind = 'webPage';
	if (isRefusal) kind = 'rejected';

	return {
		kind,
		status,
		body,
		words: readServiceWords(body),
		// A page of a proxy or redirect does not mean a wrong path.
		isWebPage: isPage && statusKind !== 'unavailable' && !isRedirect,
		redirectedTo: isRedirect ? redirectTarget(headers.location, redact) : undefined,
		retryAfterMs: retryAfterMs(headers),
	};
}

/** @returns undefined if the answer cannot be read or has an undocumented shape */
export function readValue<T>(
	{ kind, body }: Outcome,
	read: (body: unknown) => T | undefined,
): T | undefined {
	try {
		return kind === 'success' ? read(body) : undefined;
	} catch {
		return undefined;
	}
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
export function retryAfterMs(headers: Headers): number | undefined {
	const value = String(headers['retry-after']).trim();
	const seconds = /^\d{1,15}$/.test(value) ? Number(value) : 0;
	const askedMs = /[a-z]/i.test(value) ? Date.parse(value) - clock.now() : seconds * 1_000;
	return askedMs > 0 ? Math.min(LONGEST_RETRY_AFTER_MS, askedMs) : undefined;
}
