import { compact } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import { RUN_AGAIN } from '../domain';
import { type Attempt, ExecutionMemory, hashOf } from '../idempotency';
import { isRetry, isTool } from '../n8n';
import type { RerunAdvice } from '../output';

const DUPLICATES =
	'A new execution would create again the successful items that had no Order Reference, so use Retry under Executions, which sends the items as they were, or remove those items from the input.';
const CALLED_AGAIN =
	'Another call of this sub-workflow, also by a Retry of the calling workflow, creates again everything that had no Order Reference when it was created. First remove from its input the items that this and other calls created.';

/** How a failed creation is run again without creating another one twice. It depends on where the error is read. */
export function adviseCreation(context: IExecuteFunctions, itemIndex: number): RerunAdvice {
	// A model must not learn what it has created.
	if (isTool(context)) return { again: 'let the agent ask again', mayExist: false, notes: [] };

	const memory = new ExecutionMemory(context);
	const attempts = memory.list();
	const isOwn = ({ run, item }: Attempt) => run === memory.runNumber() && item === itemIndex;
	const mayExist = isRetry(context) || attempts.some(isOwn);
	// n8n then offers no Retry, and passes on the successful items.
	if (context.continueOnFail()) {
		return { again: 'run this item again, without the others', mayExist, notes: [] };
	}

	const made = attempts.filter((one) => one.state === 'made' && memory.isFor(one));
	const inDoubt = attempts.filter((one) => one.state === 'unresolved' && !isOwn(one));
	// n8n drops the output of a run that fails.
	const listed = compact([
		inDoubt.length > 0 &&
			`These got no usable answer, so they may exist: ${inDoubt.map(placeOf).join('; ')}.`,
		made.length > 0 && `Already created in this execution: ${made.map(nameOf).join('; ')}.`,
	]);

	if (context.getMode() === 'integrated') {
		return { again: 'call this workflow again', mayExist, notes: [CALLED_AGAIN, ...listed] };
	}
	if (made.length === 0 && !isRetry(context)) return { again: RUN_AGAIN, mayExist, notes: listed };

	const again = 'use Retry with currently saved workflow under Executions';
	return { again, mayExist, notes: [DUPLICATES, ...listed] };
}

function nameOf(attempt: Attempt): string {
	return `${placeOf(attempt)} is ${hashOf(attempt)}`;
}

/** n8n's editor counts items from 0 and runs from 1. */
function placeOf({ run, item }: Attempt): string {
	return run === 0 ? `item ${item}` : `run ${run + 1}, item ${item}`;
}
