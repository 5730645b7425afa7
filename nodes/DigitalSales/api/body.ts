import { z } from 'zod';

/** What is used of the Node.js stream that n8n's HTTP helper hands over. */
interface BodyStream {
	on(event: 'data', listener: (chunk: Buffer) => void): unknown;
	on(event: 'end' | 'close', listener: () => void): unknown;
	on(event: 'error', listener: (error: Error) => void): unknown;
	destroy(): unknown;
}

/** The body of an answer on its way. */
export const bodyStream = z.custom<BodyStream>(
	(value) => typeof value === 'object' && value !== null && 'on' in value && 'destroy' in value,
);

/** Far more than the largest page of products; an answer beyond it has no end that matters. */
export const MOST_BODY_BYTES = 33_554_432;

/**
 * Reads a body to its end. n8n's HTTP helper could do that, but it knows no bound, its time-out ends
 * a silent connection only, and what it has read stays in memory with the closed connection.
 *
 * @param late ends the reading, however much is still coming in; the connection is left with the next
 *   piece that arrives on it
 * @returns what came, for {@link takeText}; undefined where it is more than {@link MOST_BODY_BYTES}
 * @throws Error where the connection broke or the time was up before the end
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
			// Settled before the stream is destroyed: n8n hands over one that then claims to have ended.
			// One that has ended is left alone: its connection may carry the next request already.
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
 * Makes the text of a body, in UTF-8, and empties it: the listeners and promises of its reading live
 * on with the closed connection for long, and would keep every page of a list.
 */
export function takeText(chunks: Buffer[]): string {
	return Buffer.concat(chunks.splice(0)).toString('utf8');
}
