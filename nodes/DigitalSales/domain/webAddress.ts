/** More than browsers and servers take. */
const LONGEST_ADDRESS = 2_048;

/** Reads an http or https address; anything else gives undefined. */
export function parseWebAddress(text: string): URL | undefined {
	if (text.length > LONGEST_ADDRESS || !/^https?:\/\/[^\s/]\S*$/i.test(text)) return undefined;
	if (!URL.canParse(text)) return undefined;
	return new URL(text);
}

/** A text if it is such an address. */
export function webAddressIn(text: string | null | undefined): string | undefined {
	return text != null && parseWebAddress(text) ? text : undefined;
}

const PRIVATE_IPV4 = /^(0|10|127|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168)\./;
const PRIVATE_IPV6 = /^\[(::1?|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\]$/i;
const LOCAL_NAME = /(^|\.)(localhost|local|internal|lan|home\.arpa)$/i;

/** Whether only this machine or its own network can reach the host of an address. */
export function isPrivateAddress(address: URL): boolean {
	const { hostname } = address;
	if (PRIVATE_IPV4.test(hostname) && /^[\d.]+$/.test(hostname)) return true;
	return PRIVATE_IPV6.test(hostname) || LOCAL_NAME.test(hostname) || !/[.:]/.test(hostname);
}
