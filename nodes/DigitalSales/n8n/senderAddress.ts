import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * The address that a webhook comes from.
 *
 * Rests on (in n8n 2.41.1): n8n's requests are Express', whose `ip` counts the proxies of n8n's setting
 * N8N_PROXY_HOPS.
 * If it stops: all senders count as one, and a flood from one loses the webhooks of others.
 */

/** Of IPv6 it is the network (/48), because anybody can have a whole one. */
export function senderAddress(context: IWebhookFunctions): string {
	const { ip = '' }: { ip?: string } = context.getRequestObject();
	// IPv4 may stand within IPv6, and some proxies append the port, which is a new one for each connection.
	const ipv4 = ip.split(':').find((part) => part.includes('.'));
	return ipv4 ?? ipv6Network(ip.replace(/^\[|\].*$/g, ''));
}

/** The first three of eight groups; `::` stands for groups of zero. */
function ipv6Network(ip: string): string {
	const [before = [], after = []] = ip.split('::').map((part) => part.split(':').filter(Boolean));
	const omitted = Math.max(0, 8 - before.length - after.length);
	return [...before, ...Array<string>(omitted).fill('0'), ...after].slice(0, 3).join(':');
}
