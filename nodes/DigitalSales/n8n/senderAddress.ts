import type { IWebhookFunctions } from 'n8n-workflow';

/**
 * The address of who sends a webhook; of IPv6 the network, since each customer has one of their own.
 *
 * Rests on: n8n's requests are Express', whose `ip` counts the proxies of n8n's setting N8N_PROXY_HOPS.
 * Holds in: 2.41.1. If it stops: all senders count as one, and a flood from one loses the webhooks of others.
 */
export function senderAddress(context: IWebhookFunctions): string {
	const { ip = '' } = context.getRequestObject();
	return ip.includes('.') ? ip : ip.split(':').slice(0, 4).join(':');
}
