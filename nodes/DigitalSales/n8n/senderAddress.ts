import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * In n8n 2.41.1, `ip` of a request is the sender's address if N8N_PROXY_HOPS is right. If that stops, all senders count
 * as one, and a flood from one sender blocks all others.
 */

/** For IPv6, the address is the network (/48), because a sender can have all addresses of a network. */
export function senderAddress(context: IWebhookFunctions): string {
	const { ip = '' }: { ip?: string } = context.getRequestObject();
	// IPv4 may be written inside IPv6, and some proxies append a port.
	const ipv4 = ip.split(':').find((part) => part.includes('.'));
	return ipv4 ?? ipv6Network(ip.replace(/^\[|\].*$/g, ''));
}

/** `::` stands for groups of zero. */
function ipv6Network(ip: string): string {
	const [before = [], after = []] = ip.split('::').map((part) => part.split(':').filter(Boolean));
	const omitted = Math.max(0, 8 - before.length - after.length);
	return [...before, ...Array<string>(omitted).fill('0'), ...after].slice(0, 3).join(':');
}
