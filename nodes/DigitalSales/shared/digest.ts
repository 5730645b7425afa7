import { createHash } from 'crypto';

const DIGEST_BYTES = 16;

export function digest(...texts: string[]): string {
	const hash = createHash('sha256').update(JSON.stringify(texts)).digest();
	return hash.subarray(0, DIGEST_BYTES).toString('base64url');
}
