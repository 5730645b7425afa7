import type { IWebhookFunctions } from 'n8n-workflow';
import { listFields, mayBeSale, type Notification, parseNotification } from '../api';
import { readRequestBody } from '../n8n';
import { Declined, logRarely, REPLIES } from './reply';

const LARGEST_BODY_BYTES = 256 * 1024;

/** @throws Declined if the webhook names no transaction, or is too large */
export async function readNotification(context: IWebhookFunctions): Promise<Notification> {
	const body = await readBody(context);
	const notification = parseNotification(body);
	if (notification) return notification;
	if (!mayBeSale(body)) throw new Declined(REPLIES.noSale);

	const shown = listFields(body).join(', ') || 'none that can be read';
	const message = `A webhook was refused because it does not contain the hash of its transaction. Its fields: ${shown}`;
	logRarely(context, 'no hash', () => context.logger.warn(message));
	throw new Declined(REPLIES.noHash);
}

/** @throws Declined if the body is too large */
export async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const request = await readRequestBody(context, LARGEST_BODY_BYTES);
	if (!request) throw new Declined(REPLIES.tooLarge);
	return request.body;
}
