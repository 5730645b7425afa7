import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { readNotice } from '../api/schemas/notification';
import { digest, executionName, isRetry } from '../once/execution';
import { Ledger, LedgerError } from '../once/ledger';
import { noticeName } from './noticeName';
import { isDeduplicating } from './triggerForm';

/**
 * Runs when n8n executes the trigger, in whichever process that is, with what the webhook handed
 * over: an item goes on only if no other execution has had its transaction with this status. A test
 * in the editor may be repeated.
 *
 * @throws NodeOperationError when n8n's database does not take the entry; a Retry then goes on
 */
export async function emitOnce(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const ledger = Ledger.of(context);
	if (!ledger || context.getMode() === 'manual' || !isDeduplicating(context)) return [items];
	const account = readAccount(await context.getCredentials(CREDENTIAL_NAME));
	const emitted: INodeExecutionData[] = [];
	for (const item of items) {
		const notice = readNotice(item.json);
		const name = notice && noticeName({ ...notice, verified: item.json.verified === true });
		if (name === undefined || (await isFirst(context, ledger, digest(account.key, name)))) {
			emitted.push(item);
		}
	}
	if (emitted.length === 0) stopHere(context);
	return [emitted];
}

async function isFirst(context: IExecuteFunctions, ledger: Ledger, name: string): Promise<boolean> {
	try {
		return await takes(context, ledger, name);
	} catch (error) {
		if (!(error instanceof LedgerError)) throw error;
		throw new NodeOperationError(
			context.getNode(),
			'n8n could not record this notification, so the workflow was not started',
			{
				description: `n8n's database said: ${error.message}.\nCheck the database of n8n, then retry this execution.`,
			},
		);
	}
}

/**
 * Whether this execution takes a notice. It claims it, and then enters itself as the one that has it:
 * so a Retry after a crash can tell whether its original had it, another execution, or nobody.
 */
async function takes(context: IExecuteFunctions, ledger: Ledger, name: string): Promise<boolean> {
	const claim = digest('claim', name);
	const taken = digest('taken', name);
	const mine = digest('taken', name, executionName(context));
	const isClaimed = (await ledger.enter([claim])).has(claim);
	if (isClaimed && !isRetry(context)) return false;
	const seen = await ledger.enter([taken, mine]);
	if (!seen.has(taken) || seen.has(mine)) return true;
	await ledger.remove([mine]);
	return false;
}

/** With Always Output Data n8n would make an empty item of a duplicate, and run the next node with it. */
function stopHere(context: IExecuteFunctions): void {
	context.getExecuteData().node.alwaysOutputData = false;
}
