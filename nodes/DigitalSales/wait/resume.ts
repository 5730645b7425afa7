import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { isSameButForCase } from '../domain/hash';
import { isSettled } from '../domain/paymentStatus';
import { accountOf } from '../notice/accountOf';
import { readBody } from '../notice/body';
import { readNotice } from '../notice/parse';
import { answer, answering, Declined, REPLIES } from '../notice/reply';
import { SingleFlight } from '../notice/singleFlight';
import { ANSWER_WITHIN_MS, readBack } from '../notice/verify';
import { waitOutput } from '../output/transaction';
import { clock } from '../shared/clock';
import { mapLimit } from '../shared/mapLimit';
import { processWide } from '../shared/processWide';
import { pingedWait } from './pingSelf';
import { isPolling, startPolling, stopPolling } from './poll';
import { readSuspendedItems, readWait, resumeUrl, type SuspendedWait } from './suspendedWait';

/** A payment as it is now; undefined if it could not be read. */
type State = { isSettled: boolean; json: IDataObject } | undefined;

const READS_AT_ONCE = 20;

/** Reads of the payments of a wait, by its id; one that ends the wait gives the items to resume with. */
const readsInFlight = processWide(
	new SingleFlight<INodeExecutionData[] | 'resumed'>({ pausesAfterFailure: true }),
);

/**
 * Handles every request to the address of a suspended execution. Whatever it says, the payments are
 * read from the service, and the execution resumes only if all are settled or the time is up. Never
 * throws: n8n would fail the execution and still run the next node, with one empty item.
 */
export async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const failure = 'A webhook to a waiting execution could not be handled';
	return await answering(context, failure, async () => {
		const items = await handleNotice(context);
		answer(context, REPLIES.accepted);
		return { noWebhookResponse: true, workflowData: [items] };
	});
}

async function handleNotice(context: IWebhookFunctions): Promise<INodeExecutionData[]> {
	const answerBy = clock.elapsed() + ANSWER_WITHIN_MS;
	const body = await readBody(context);
	const pinged = pingedWait(body);
	const notice = pinged === undefined ? readNotice(body) : undefined;
	if (!notice && pinged === undefined) throw new Declined(REPLIES.noHash);
	const wait = readWait(context);
	if (!notice && pinged !== wait.id) throw new Declined(REPLIES.replaced);
	if (notice && !wait.payments.some(({ hash }) => isSameButForCase(hash, notice.hash))) {
		throw new Declined(REPLIES.unknown);
	}
	const caller = notice ? { content: `${notice.hash} ${notice.status}` } : { skipsPause: true };
	const items = await readsInFlight.run({ key: wait.id, ...caller }, async () => {
		const states = await readStates(context, wait, answerBy);
		if (states.every((state) => state?.isSettled) || clock.now() >= wait.deadline) {
			const result = withStates(readSuspendedItems(context), wait, states);
			stopPolling(context);
			return { result, resultFor: () => 'resumed' };
		}
		// After a restart a notice starts the polling again.
		if (notice && !isPolling(context, wait)) startPolling(context, wait, resumeUrl(context, 0));
		throw new Declined(states.includes(undefined) ? REPLIES.unreachable : REPLIES.waiting);
	});
	if (!items) throw new Declined(REPLIES.inFlight);
	if (items === 'resumed') throw new Declined(REPLIES.accepted);
	return items;
}

async function readStates(
	context: IWebhookFunctions,
	{ payments }: SuspendedWait,
	answerBy: number,
): Promise<State[]> {
	const account = await accountOf(context);
	return await mapLimit(
		payments,
		READS_AT_ONCE,
		async ({ hash, simplify, unit }): Promise<State> => {
			const read = await readBack(context, account, hash, answerBy);
			if (read.outcome !== 'found') return undefined;
			const { transaction } = read;
			return {
				isSettled: isSettled(transaction.payment_status),
				json: waitOutput(transaction, simplify, unit),
			};
		},
	);
}

/** The suspended items in their present state; one whose payment could not be read stays as it was. */
function withStates(
	suspended: IDataObject[],
	{ count, payments }: SuspendedWait,
	states: State[],
): INodeExecutionData[] {
	if (suspended.length !== count) throw new Error('Suspended items are missing');
	const items = suspended.map((json): INodeExecutionData => ({ json }));
	payments.forEach(({ index }, nth) => {
		const state = states[nth];
		if (state) items[index] = { json: state.json };
	});
	return items;
}
