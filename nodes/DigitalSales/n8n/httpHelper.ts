import compact from 'lodash/compact';
import { z } from 'zod/v3';
import { tolerated } from '../shared/lenient';

/*
 * What n8n's HTTP helper returns and throws.
 *
 * Rests on (since n8n 2.30.0): with `returnFullResponse` and `encoding: 'stream'` the helper returns status, headers
 * and the stream of the body. It throws an error whose causes hold the names and codes of Node.js, the request with
 * its socket, and the answer, for a status that the helper does not ignore.
 * If it stops: a fault before the first byte looks like a broken connection. More charges then stay in doubt, and none
 * is sent twice.
 */

/** The part of a Node.js stream that the package uses. */
export interface BodyStream {
	on(event: 'data', listener: (chunk: Buffer) => void): unknown;
	on(event: 'end' | 'close', listener: () => void): unknown;
	on(event: 'error', listener: (error: Error) => void): unknown;
	destroy(): unknown;
}

/** @internal */
export const bodyStream = z.custom<BodyStream>(
	(value) => typeof value === 'object' && value !== null && 'on' in value && 'destroy' in value,
);

/** The response of the helper. Its body is a stream. */
export const responseHead = z.object({
	statusCode: z.number(),
	headers: z.record(z.unknown()).catch({}),
	body: bodyStream,
});

const thrownAnswer = z.object({
	response: z.object({ status: z.number(), headers: z.unknown(), data: bodyStream }),
});

/**
 * Returns the answer that an error of the helper holds.
 *
 * @throws the error if it holds no answer, or the answer of a proxy that refused to connect
 */
export function findAnswer(error: unknown): z.input<typeof responseHead> {
	const [answer] = listCauses(error).flatMap((cause) => thrownAnswer.safeParse(cause).data ?? []);
	if (!answer || readFault(error).kind === 'notSent') throw error;
	const { status: statusCode, headers, data: body } = answer.response;
	return { statusCode, headers, body };
}

/** Why a request got no answer: n8n blocked it, it failed before its first byte, or it failed later. */
export interface Fault {
	kind: 'blocked' | 'notSent' | 'interrupted';
	/** The system code, for example `ECONNRESET`. */
	code?: string;
}

/** Codes and system calls that cannot come after the first byte of a request. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'connect', 'getaddrinfo'];
/** The errors of n8n's protection against requests to internal hosts. */
const BLOCKED = ['SsrfBlockedHostnameError', 'SsrfBlockedIpError', 'UnknownConnectionHostError'];

const systemName = tolerated(z.string().regex(/^[A-Za-z_]{2,40}$/));
const causeLink = z.object({
	name: tolerated(z.string()),
	code: systemName,
	syscall: systemName,
	/** A request that was not sent: it has no socket yet, nothing was written to it, or TLS is not established. */
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
	response: tolerated(z.object({ status: z.number() })),
});

/**
 * Reads from an error and its causes why a request got no answer. Reads codes and names only, because these errors
 * hold the request with its headers. If in doubt, the request may have been processed.
 */
export function readFault(error: unknown): Fault {
	const causes = listCauses(error).map((cause) => causeLink.parse(cause));
	const [code] = compact(
		causes.map(({ request, response, code }) =>
			request && response ? `a proxy answered ${response.status}` : code,
		),
	);
	const [syscall] = compact(causes.map(({ syscall }) => syscall));
	const isNeverSent =
		NEVER_SENT.some((name) => name === code || name === syscall) ||
		causes.some(({ request, errors }) => request ?? errors);
	if (causes.some(({ name }) => name && BLOCKED.includes(name))) return { kind: 'blocked', code };
	return { kind: isNeverSent ? 'notSent' : 'interrupted', code };
}

const DEEPEST_CAUSE = 5;

/** The outermost cause comes first. */
function listCauses(error: unknown): object[] {
	const causes: object[] = [];
	let next = error;
	while (typeof next === 'object' && next !== null && causes.length < DEEPEST_CAUSE) {
		causes.push(next);
		next = 'cause' in next ? next.cause : undefined;
	}
	return causes;
}
