import { isPrivateAddress, parseWebAddress } from '../domain';

/** Why webhooks may not arrive at an address. */
export function unreachableHint(url: string): string | undefined {
	const address = parseWebAddress(url);
	if (address && isPrivateAddress(address)) {
		return `Only this machine or its network can reach ${address.host}, so webhooks arrive only if the platform runs there, too. Wait for Payment works without webhooks.`;
	}
	return address && /\/webhook-test\//.test(address.pathname)
		? 'The Notification URL is a test URL, which listens only while the editor waits for a test event. For real sales, enter the production URL of the trigger.'
		: undefined;
}
