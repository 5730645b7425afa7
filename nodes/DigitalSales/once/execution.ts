import type { IExecuteFunctions } from 'n8n-workflow';
import { randomUUID } from 'crypto';
import { z } from 'zod';
import { digest } from '../shared/digest';

/** In the query of an execution's resume address; n8n stores the token with the execution. */
const TOKEN_NAME = 'signature';

const executionSchema = z.object({ resumeUrl: z.string() });

/** Names the execution as it first began: n8n's Retry changes its id but keeps its token. */
export function originOf(context: IExecuteFunctions): string {
	const { resumeUrl } = executionSchema.parse(context.getWorkflowDataProxy(0).$execution);
	const token = URL.canParse(resumeUrl) && new URL(resumeUrl).searchParams.get(TOKEN_NAME);
	// n8n's Agents run a node without an execution.
	return digest(token || randomUUID());
}

/** Whether this is n8n's Retry of an execution that failed or crashed. */
export function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

/** The ids of executions of n8n's experimental Engine 2.0 are UUIDs of version 7. */
const ENGINE_2_ID = /^[\da-f]{8}-[\da-f]{4}-7/i;

/** Whether Engine 2.0 runs the node: it keeps no memory of a node, and resumes no execution. */
export function isEngine2(context: IExecuteFunctions): boolean {
	return ENGINE_2_ID.test(context.getExecutionId());
}

/** Whether the node runs as the tool of an agent: n8n then gives its type another name. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}
