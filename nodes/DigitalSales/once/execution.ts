import type { IExecuteFunctions } from 'n8n-workflow';
import { createHash, randomUUID } from 'crypto';
import { z } from 'zod';

/** In the query of an execution's resume address: made when it begins, and stored with it. */
const TOKEN_NAME = 'signature';
const DIGEST_BYTES = 16;

const executionSchema = z.object({ resumeUrl: z.string() });

/** A short name for texts of any length. */
export function digest(...texts: string[]): string {
	const hash = createHash('sha256').update(JSON.stringify(texts)).digest();
	return hash.subarray(0, DIGEST_BYTES).toString('base64url');
}

/**
 * Names the execution as it first began. n8n's Retry gives it another id, but keeps its token and the
 * moment at which it began, after a crash too. Older n8n has no token; there two executions that begin
 * in the same millisecond have the same name.
 */
export function executionName(context: IExecuteFunctions): string {
	const { resumeUrl } = executionSchema.parse(context.getWorkflowDataProxy(0).$execution);
	const token = URL.canParse(resumeUrl) && new URL(resumeUrl).searchParams.get(TOKEN_NAME);
	const beganAt = context.getExecutionContext()?.establishedAt;
	// n8n's Agents run a node without any execution.
	return digest(token || String(beganAt ?? context.getExecutionId() ?? randomUUID()));
}

/** Whether n8n runs again what failed or crashed before. */
export function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

/** Whether the node runs as the tool of an agent: n8n then calls its type by another name. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}
