import type { IExecuteFunctions } from 'n8n-workflow';
import { randomUUID } from 'crypto';
import { digest } from '../shared/digest';
import { n8nResumeUrl } from './resumeUrl';

/*
 * Recognizes n8n's Retry, and the execution that it repeats.
 *
 * Rests on (since n8n 2.30.0): a Retry has the mode `retry` and a new execution id, but its resume address has the
 * secret of the original in its query, because n8n stores the secret with the execution's data.
 * If it stops: a Retry does not know the charges of its original. The order and the fingerprint still guard them.
 */

const SECRET = 'signature';

export function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

/** Whether the workflow's settings keep the execution if it fails. */
export function isFailureKept(context: IExecuteFunctions): boolean {
	const { saveDataErrorExecution, saveManualExecutions } = context.getWorkflowSettings();
	return context.getMode() === 'manual'
		? saveManualExecutions !== false
		: saveDataErrorExecution !== 'none';
}

/** Identifies the original execution. All its Retries have the same key. */
export function originKey(context: IExecuteFunctions): string {
	const url = n8nResumeUrl(context);
	const secret = URL.canParse(url) && new URL(url).searchParams.get(SECRET);
	// n8n's Agents run a node without an execution.
	return digest(secret || randomUUID());
}
