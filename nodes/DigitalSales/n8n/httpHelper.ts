import { compact, map } from 'lodash';
import { z } from 'zod/v3';
import { tolerated } from '../shared';

/*
 * Since n8n 2.30.0, n8n's HTTP helper returns the body as a stream. Its errors hold the status or Node.js's code and the
 * answer, and since 2.35.0 also their causes, with the request. If that stops, a request that was never sent looks
 * interrupted, so more charges stay in doubt, but none is sent twice.
 */

export type BodyStream = AsyncIterable<Buffer> & { destroy(): unknown; readableEnded: boolean };

/** @internal */
export const bodyStream = z.custom<BodyStream>((value) => {
	if (typeof value !== 'object' || value === null) return false;
	return Symbol.asyncIterator in value && 'destroy' in value;
});

export const responseHead = z.object({
	statusCode: z.number(),
	headers: z.record(z.unknown()).catch({}),
	body: bodyStream,
});

const thrownAnswer = z.union([
	z.object({ response: z.object({ status: z.number(), headers: z.unknown(), data: bodyStream }) }),
	// Below 2.35.0.
	z
		.object({ httpCode: z.string().regex(/^\d{3}$/), context: z.object({ data: bodyStream }) })
		.transform(({ httpCode, context: { data } }) => ({
			response: { status: Number(httpCode), headers: {}, data },
		})),
]);

/** Returns the platform's answer that an error holds. Throws the error if it holds none, or a proxy could not connect. */
export function takeAnswer(error: unknown): z.input<typeof responseHead> {
	// The innermost has the headers, too.
	const answer = listCauses(error)
		.flatMap((cause) => thrownAnswer.safeParse(cause).data ?? [])
		.at(-1);
	if (!answer || readFault(error).kind === 'notSent') throw error;

	const { response } = answer;
	return { statusCode: response.status, headers: response.headers, body: response.data };
}

/** Why a request got no answer. Only an `interrupted` request may have been processed. */
interface Fault {
	kind: 'blocked' | 'notSent' | 'interrupted';
	code?: string;
}

/** Codes and system calls that occur only before the first byte. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'connect', 'getaddrinfo'];
const BLOCKED = ['SsrfBlockedHostnameError', 'SsrfBlockedIpError', 'UnknownConnectionHostError'];

const systemName = tolerated(z.string().regex(/^[A-Za-z_]{2,40}$/));
const causeSchema = z.object({
	name: tolerated(z.string()),
	code: systemName,
	httpCode: systemName,
	syscall: systemName,
	/** Matches only a request that was not sent. */
	request: tolerated(
		z.object({
			socket: z.union([
				z.null(),
				z.object({ bytesWritten: z.literal(0) }),
				z.object({ secureConnecting: z.literal(true) }),
			]),
		}),
	),
	/** Node.js could connect to none of several addresses. */
	errors: tolerated(z.array(z.object({ syscall: z.literal('connect') })).nonempty()),
});

/** Reads only codes and names, because the errors also hold the request's headers. */
export function readFault(error: unknown): Fault {
	const causes = listCauses(error).map((cause) => causeSchema.parse(cause));
	const [code] = compact([...map(causes, 'code'), ...map(causes, 'httpCode')]);
	const [syscall] = compact(map(causes, 'syscall'));

	if (causes.some(({ name }) => name && BLOCKED.includes(name))) return { kind: 'blocked', code };
	const isNeverSent = NEVER_SENT.some((name) => name === code || name === syscall);
	const isUnsent = causes.some(({ request, errors }) => request ?? errors);
	if (isNeverSent || isUnsent) return { kind: 'notSent', code };
	return { kind: 'interrupted', code };
}

const DEEPEST_CAUSE = 5;

function listCauses(error: unknown, most = DEEPEST_CAUSE): object[] {
	if (typeof error !== 'object' || error === null || most === 0) return [];
	return [error, ...listCauses('cause' in error ? error.cause : undefined, most - 1)];
}
