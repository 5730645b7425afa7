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
import { ANSWER_WITHIN_MS, readBack, SHORTEST_READ_MS } from '../notice/verify';
import { waitOutput } from '../output/transaction';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { endCheck, forgetLook, lookAt, type Look } from './look';
import { PING_ANSWER_WITHIN_MS, pingedWait } from './pingSelf';
import { fallbackAt, isPolling, pingForLook, startPolling, stopPolling } from './poll';
import { readSuspendedItems, readWait, resumeUrl, type SuspendedWait } from './suspendedWait';

/** Reads that begin later in a check have too little time left; the next check has more. */
const BEGIN_WITHIN_MS = 3_500;
/** How long one try of a read may take while no sender waits for the answer. */
const LONGEST_PINGED_TRY_MS = 12_000;
/** What another check takes, the way to it included. */
const ANOTHER_CHECK_MS = PING_ANSWER_WITHIN_MS + 4_000;

/** Checks of the payments of a wait, by its id; one that ends the wait gives the items to resume with. */
const checksInFlight = processWide(
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
	const calledAt = clock.elapsed();
	const body = await readBody(context);
	const pinged = pingedWait(body);
	const notice = pinged === undefined ? readNotice(body) : undefined;
	if (!notice && pinged === undefined) throw new Declined(REPLIES.noHash);
	const wait = readWait(context);
	if (!notice && pinged !== wait.id) throw new Declined(REPLIES.replaced);
	if (notice && !wait.payments.some(({ hash }) => isSameButForCase(hash, notice.hash))) {
		throw new Declined(REPLIES.unknown);
	}
	const caller = notice ? { content: `${notice.hash} ${notice.status}` } : { isPing: true };
	const times = notice
		? { answerBy: calledAt + ANSWER_WITHIN_MS }
		: { answerBy: calledAt + PING_ANSWER_WITHIN_MS, longestTryMs: LONGEST_PINGED_TRY_MS };
	const items = await checksInFlight.run({ key: wait.id, ...caller }, async () => {
		const isLast = clock.now() >= wait.deadline;
		const look = await check(context, wait, { noticed: notice?.hash, isLast, ...times });
		const isTimeUp = clock.now() + ANOTHER_CHECK_MS >= fallbackAt(wait);
		if (look.isSettled || (isLast && (look.isOver || isTimeUp))) {
			const result = withStates(readSuspendedItems(context), wait, look);
			stopPolling(context);
			forgetLook(wait);
			return { result, resultFor: () => 'resumed' };
		}
		const url = resumeUrl(context, 0);
		// After a restart a notice starts the polling again.
		if (notice && !isPolling(context, wait)) startPolling(context, wait, url);
		if (look.isHalfDone) {
			void pingForLook(context, wait, url, look);
			// With a 200 nobody would come again if the rest of the look failed.
			throw new Declined(REPLIES.inFlight);
		}
		throw new Declined(look.hasFailed ? REPLIES.unreachable : REPLIES.waiting);
	});
	if (!items) throw new Declined(REPLIES.inFlight);
	if (items === 'resumed') throw new Declined(REPLIES.accepted);
	return items;
}

/** Goes on with the look at the payments, as far as there is time before the answer. */
async function check(
	context: IWebhookFunctions,
	wait: SuspendedWait,
	{
		noticed,
		isLast,
		...times
	}: { noticed?: string; isLast: boolean; answerBy: number; longestTryMs?: number },
): Promise<Look> {
	const account = await accountOf(context);
	const look = lookAt(wait, account, isLast);
	const beginBy = Math.min(clock.elapsed() + BEGIN_WITHIN_MS, times.answerBy - SHORTEST_READ_MS);
	await look.read(
		async ({ hash, simplify, unit }) => {
			const read = await readBack(context, account, hash, times);
			if (read.outcome !== 'found') return read.isLimited ? 'limited' : 'failed';
			const { transaction } = read;
			return {
				isSettled: isSettled(transaction.payment_status),
				json: waitOutput(transaction, simplify, unit),
			};
		},
		{ noticed, beginBy },
	);
	endCheck(wait, look);
	return look;
}

/** The suspended items in their present state; one whose payment could not be read stays as it was. */
function withStates(
	suspended: IDataObject[],
	{ count, payments }: SuspendedWait,
	look: Look,
): INodeExecutionData[] {
	if (suspended.length !== count) throw new Error('Suspended items are missing');
	const items = suspended.map((json): INodeExecutionData => ({ json }));
	payments.forEach(({ index }) => {
		const json = look.stateOf(index);
		if (json) items[index] = { json };
	});
	return items;
}
