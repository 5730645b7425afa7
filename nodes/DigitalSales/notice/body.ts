import type { IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { Declined, REPLIES } from './reply';

const LARGEST_NOTICE_BYTES = 256 * 1024;
/** What n8n's reader of bodies throws at its own limit. */
const overLimitOfN8n = z.object({ type: z.literal('entity.too.large') });

/**
 * The body of a notice; undefined if it is neither JSON nor a form of texts. For a content type that n8n
 * does not parse, the body is read as JSON all the same.
 *
 * @throws Declined if it is larger than any real notice
 */
export async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const request = context.getRequestObject();
	declineLongerThanAny(Number(context.getHeaderData()['content-length']));
	// n8n keeps no raw body of a form with files, so its size would not be known.
	if (request.contentType?.startsWith('multipart/')) return undefined;
	await request.readRawBody().catch((error: unknown) => {
		if (overLimitOfN8n.safeParse(error).success) throw new Declined(REPLIES.tooLarge);
		// The sender may have broken off.
	});
	declineLongerThanAny(request.rawBody?.length);
	const parsed: unknown = context.getBodyData();
	if (parsed !== undefined && typeof parsed !== 'string') return parsed;
	// JSON is UTF-8, and Node knows few of the names that a content type may give as its charset.
	const text = parsed ?? request.rawBody?.toString() ?? '';
	try {
		return JSON.parse(text.replace(/^\uFEFF/, ''));
	} catch {
		return undefined;
	}
}

function declineLongerThanAny(bytes: number | undefined): void {
	if (bytes !== undefined && bytes > LARGEST_NOTICE_BYTES) throw new Declined(REPLIES.tooLarge);
}
