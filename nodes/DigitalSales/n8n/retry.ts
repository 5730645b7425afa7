import type { IExecuteFunctions } from 'n8n-workflow';
import { digest } from '../shared';
import { n8nResumeUrl } from './resumeUrl';

/*
 * Since n8n 2.30.0, the mode of a Retry is `retry`, and its resume address has the secret of the original execution. If
 * that stops, a Retry does not know the charges of its original, and only the keys `order` and `unresolved` guard them. An equal
 * charge within 15 minutes then gets the earlier one.
 */

export function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

export function isFailureKept(context: IExecuteFunctions): boolean {
	const { saveDataErrorExecution, saveManualExecutions } = context.getWorkflowSettings();
	if (context.getMode() === 'manual') return saveManualExecutions !== false;
	return saveDataErrorExecution !== 'none';
}

/** The same for an execution and all its Retries. Undefined without an execution, as in n8n's Agents. */
export function executionKey(context: IExecuteFunctions): string | undefined {
	// Without an execution, the address has a secret of this call.
	if (!context.getExecutionId()) return undefined;

	const url = n8nResumeUrl(context);
	const secret = URL.canParse(url) && new URL(url).searchParams.get('signature');
	if (!secret) return undefined;
	return digest(secret);
}
