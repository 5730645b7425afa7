import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * Who sends a webhook.
 *
 * Rests on: n8n answers with Express, whose `request.ip` is the sender's address, behind as many proxies as the
 * setting N8N_PROXY_HOPS says; by default behind none.
 *
 * Holds in: 2.41.1 (abstract-server).
 *
 * If it stops: all senders count as one, and a flood of one delays the webhooks of the others.
 */

/** The network of a sender: of IPv6 an own 64 bits are given to each customer. */
export function senderAddress(context: IWebhookFunctions): string {
	const { ip = '' } = context.getRequestObject();
	return ip.includes('.') ? ip : ip.split(':').slice(0, 4).join(':');
}
