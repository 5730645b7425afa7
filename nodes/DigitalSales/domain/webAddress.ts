import { cleanText, type Result } from './text';

const LONGEST_ADDRESS = 2_048;

export function parseWebAddress(text: string): URL | undefined {
	if (text.length > LONGEST_ADDRESS || !/^https?:\/\/[^\s/]\S*$/i.test(text)) return undefined;
	if (!URL.canParse(text)) return undefined;
	return new URL(text);
}

export function validWebAddress(text: string | null | undefined): string | undefined {
	return text != null && parseWebAddress(text) ? text : undefined;
}

/** Also Tailscale's and carriers' addresses (100.64.0.0/10) and those for tests (198.18.0.0/15). */
const PRIVATE_IPV4 =
	/^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|198\.1[89])(?:\.\d+)+$/;
const PRIVATE_IPV6 = /^\[(?:::1?|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\]$/;
const LOCAL_NAME =
	/(?:^|\.)(?:localhost|local|localdomain|internal|lan|home|home\.arpa|fritz\.box)$/;
const THIS_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\])(?=[:/]|$)/i;

export function isPrivateAddress(address: URL): boolean {
	const hostname = address.hostname.replace(/\.$/, '');
	if (PRIVATE_IPV4.test(hostname) || PRIVATE_IPV6.test(hostname)) return true;
	return LOCAL_NAME.test(hostname) || !/[.:]/.test(hostname);
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
	const scheme = THIS_MACHINE.test(typed) ? 'http' : 'https';
	const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `${scheme}://${typed}`;
	const address = parseWebAddress(withScheme);

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
