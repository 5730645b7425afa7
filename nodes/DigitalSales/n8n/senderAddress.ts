import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * The address that a webhook comes from.
 *
 * Rests on (in n8n 2.41.1): n8n's requests are Express', whose `ip` counts the proxies of n8n's setting
 * N8N_PROXY_HOPS.
 * If it stops: all senders count as one, and a flood from one loses the webhooks of others.
 */

/** Returns the /64 network of an IPv6 address, because providers give each customer a whole network. */
export function senderAddress(context: IWebhookFunctions): string {
	const { ip = '' } = context.getRequestObject();
	return ip.includes('.') ? ip : ipv6Network(ip);
}

/** The first four of eight groups; `::` stands for groups of zero. */
function ipv6Network(ip: string): string {
	const [before = [], after = []] = ip.split('::').map((part) => part.split(':').filter(Boolean));
	const omitted = Math.max(0, 8 - before.length - after.length);
	return [...before, ...Array<string>(omitted).fill('0'), ...after].slice(0, 4).join(':');
}
