import { cleanText, type Result } from './text';

export function parseWebAddress(text: string): URL | undefined {
	const isWeb = /^https?:\/\/[^\s/]\S*$/i.test(text) && URL.canParse(text);
	return isWeb ? new URL(text) : undefined;
}

export function validWebAddress(text: string | null | undefined): string | undefined {
	return text != null && parseWebAddress(text) ? text : undefined;
}

const PRIVATE_HOSTS = [
	/^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)(?:\.\d+)+$/,
	// Of Tailscale, or of a carrier.
	/^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d+)+$/,
	/^\[(?:::1?|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\]$/,
	/(?:^|\.)(?:localhost|local|internal|lan)$|^[^.:]+$/,
];

export function isPrivateAddress({ hostname }: URL): boolean {
	return PRIVATE_HOSTS.some((pattern) => pattern.test(hostname));
}

/** Why webhooks may not arrive at an address. */
export function unreachableHint(url: string): string | undefined {
	const address = parseWebAddress(url);
	if (!address) return undefined;

	if (isPrivateAddress(address)) {
		return `Only this machine or its network can reach ${address.host}, so webhooks arrive only if the platform runs there, too. Wait for Payment works without webhooks.`;
	}
	if (address.pathname.includes('/webhook-test/')) {
		return 'The Notification URL is a test URL, which listens only while the editor waits for a test event. For real sales, enter the production URL of the trigger.';
	}
	return undefined;
}

/** Each platform has its own path (API document, Versioning). The scheme may be missing. */
export function parseBaseUrl(input: string): Result<string> {
	const typed = cleanText(input);
	if (typed === '') return { problem: 'is empty' };
	const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed);
	const address = parseWebAddress(hasScheme ? typed : `https://${typed}`);

	// A scheme that was typed twice looks like a host. The input may be a token, so it is not quoted.
	if (!address || /^https?$/.test(address.hostname)) return { problem: 'is not a web address' };
	if (address.search !== '' || address.hash !== '') {
		return { problem: 'must end with its path, without "?" or "#"' };
	}
	if (address.username !== '' || address.password !== '') {
		return { problem: 'must not contain a user name or password' };
	}

	return { value: address.origin + address.pathname.replace(/\/+$/, '') };
}
