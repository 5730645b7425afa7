import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { readNotice } from '../notice/parse';
import { digest, isRetry, originOf } from '../once/execution';
import { Ledger, LedgerError } from '../once/ledger';
import { noticeName } from './noticeName';
import { isDeduplicating } from './form';

/** Of the node's context: the notice that this execution has tried to claim. */
const CONTEXT_KEY = 'digitalSalesClaim';

const verifiedSchema = z.object({
	hash: z.coerce.string(),
	payment_status: z.string().optional().catch(undefined),
});

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
		const name = nameOf(item.json);
		if (name === undefined || (await isFirst(context, ledger, digest(account.baseUrl, name)))) {
			emitted.push(item);
		}
	}
	if (emitted.length === 0) stopHere(context);
	return [emitted];
}

function nameOf(item: IDataObject): string | undefined {
	if (item.verified === true) {
		const { hash, payment_status: status } = verifiedSchema.parse(item);
		return noticeName({ hash, status, verified: true });
	}
	const notice = readNotice(item);
	return notice && noticeName({ ...notice, verified: false });
}

async function isFirst(context: IExecuteFunctions, ledger: Ledger, name: string): Promise<boolean> {
	return await takes(context, ledger, name).catch((error: unknown) => {
		if (!(error instanceof LedgerError)) throw error;
		// With On Error: Continue n8n would hand on what came in, a duplicate too.
		context.getExecuteData().node.onError = 'stopWorkflow';
		throw new NodeOperationError(
			context.getNode(),
			'n8n could not record this notification, so the workflow was not started',
			{
				description: `n8n's database said: ${error.message}.\nCheck the database of n8n, then retry this execution.`,
			},
		);
	});
}

/**
 * Whether this execution takes a notice. It claims it, and then enters itself as the one that has it:
 * so a second try, or a Retry after a crash, can tell whether the first one had it, another execution,
 * or nobody.
 */
async function takes(context: IExecuteFunctions, ledger: Ledger, name: string): Promise<boolean> {
	const claim = digest('claim', name);
	const taken = digest('taken', name);
	const mine = digest('taken', name, originOf(context).name);
	const held = context.getContext('node');
	const isAgain = isRetry(context) || held[CONTEXT_KEY] === claim;
	held[CONTEXT_KEY] = claim;
	const isClaimed = (await ledger.enter([claim])).has(claim);
	if (isClaimed && !isAgain) return false;
	const seen = await ledger.enter([taken, mine]);
	if (!seen.has(taken) || seen.has(mine)) return true;
	await ledger.strike([mine]);
	return false;
}

/** With Always Output Data n8n would make an empty item of a duplicate, and run the next node with it. */
function stopHere(context: IExecuteFunctions): void {
	context.getExecuteData().node.alwaysOutputData = false;
}
