import type { IExecuteFunctions } from 'n8n-workflow';
import { createHash, randomUUID } from 'crypto';
import { composed } from '../domain/text';
import { resumeUrl } from '../n8n/resumeUrl';

/** In the query of an execution's resume address; n8n stores the token with the execution. */
const TOKEN_NAME = 'signature';
const DIGEST_BYTES = 16;

/** A short key for texts of any length; texts that look alike have the same key. */
export function digest(...texts: string[]): string {
	const hash = createHash('sha256')
		.update(composed(JSON.stringify(texts)))
		.digest();
	return hash.subarray(0, DIGEST_BYTES).toString('base64url');
}

/** Names the execution as it first began: n8n's Retry changes its id but keeps its token. */
export function originOf(context: IExecuteFunctions): string {
	const url = resumeUrl(context);
	const token = URL.canParse(url) && new URL(url).searchParams.get(TOKEN_NAME);
	// n8n's Agents run a node without an execution.
	return digest(token || randomUUID());
}

/** Whether this is n8n's Retry of an execution that failed or crashed. */
export function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

/** Whether the node runs as the tool of an agent: n8n then gives its type another name. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}
