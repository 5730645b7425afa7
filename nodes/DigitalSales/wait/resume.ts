import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { isSameButForCase } from '../domain/hash';
import { isSettled } from '../domain/paymentStatus';
import { accountOf } from '../notice/accountOf';
import { isTooLarge, readBody } from '../notice/body';
import { readNotice, type Notice } from '../notice/parse';
import { answer, answering, decline, REPLIES } from '../notice/reply';
import { SingleFlight, type Asking } from '../notice/singleFlight';
import { ANSWER_WITHIN_MS, readBack } from '../notice/verify';
import { reportOutput } from '../output/transaction';
import { clock } from '../shared/clock';
import { mapLimit } from '../shared/mapLimit';
import { processWide } from '../shared/processWide';
import { pingedWait } from './pingSelf';
import { isPolling, startPolling, stopPolling } from './poll';
import {
	readSuspendedItems,
	readWait,
	resumeUrl,
	type OpenPayment,
	type SuspendedWait,
} from './suspendedWait';

/** A payment as it is now; undefined if the service could not be asked. */
type State = { isSettled: boolean; json: IDataObject } | undefined;

/** Either a notice of the service, or a ping of our own with the id of the wait it is for. */
type Caller = { notice: Notice; pinged?: undefined } | { notice?: undefined; pinged: string };

const READS_AT_ONCE = 20;

/** Reads of the payments of a wait, by its id; a look that ends the wait gives the items to resume with. */
const looks = processWide(new SingleFlight<INodeExecutionData[] | 'resumed'>(true));

/**
 * Handles every request to the address of a suspended execution. Whoever sends it, the payments are
 * read from the service, and the execution goes on only if all of them are settled or the time is up.
 * Never throws: n8n would end the execution as failed and still run the next node, with one empty item.
 */
export async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const failure = 'A notification to a waiting execution could not be handled';
	return await answering(context, failure, async () => {
		const items = await handleNotice(context);
		answer(context, REPLIES.accepted);
		return { noWebhookResponse: true, workflowData: [items] };
	});
}

async function handleNotice(context: IWebhookFunctions): Promise<INodeExecutionData[]> {
	const answerBy = clock.elapsed() + ANSWER_WITHIN_MS;
	if (isTooLarge(context)) decline(REPLIES.tooLarge);
	const caller = parse(context);
	const wait = readWait(context);
	guard(caller, wait);
	const seen = await looks.run(askingOf(caller, wait), async () => {
		const states = await readStates(context, wait, answerBy);
		const items = itemsIfOver(context, wait, states);
		if (!items) return keepWaiting(context, wait, caller, states);
		stopPolling(context);
		return { result: items, share: () => 'resumed' };
	});
	if (seen === 'resumed') decline(REPLIES.accepted);
	return seen ?? decline(REPLIES.inFlight);
}

function parse(context: IWebhookFunctions): Caller {
	const body = readBody(context);
	const pinged = pingedWait(body);
	if (pinged !== undefined) return { pinged };
	return { notice: readNotice(body) ?? decline(REPLIES.noHash) };
}

function guard({ notice, pinged }: Caller, wait: SuspendedWait): void {
	if (!notice) {
		if (pinged !== wait.id) decline(REPLIES.replaced);
	} else if (!wait.open.some(({ hash }) => isSameButForCase(hash, notice.hash))) {
		decline(REPLIES.unknown);
	}
}

/** After a restart a notice brings the polling back. */
function keepWaiting(
	context: IWebhookFunctions,
	wait: SuspendedWait,
	{ notice }: Caller,
	states: State[],
): never {
	if (notice && !isPolling(context, wait)) startPolling(context, wait, resumeUrl(context, 0));
	return decline(states.includes(undefined) ? REPLIES.unreachable : REPLIES.waiting);
}

function askingOf({ notice }: Caller, { id }: SuspendedWait): Asking {
	if (!notice) return { subject: id, urgent: true };
	return { subject: id, claim: `${notice.hash} ${notice.status}` };
}

async function readStates(
	context: IWebhookFunctions,
	{ open }: SuspendedWait,
	answerBy: number,
): Promise<State[]> {
	const account = await accountOf(context);
	return await mapLimit(open, READS_AT_ONCE, async (payment) => {
		const read = await readBack(context, account, payment.hash, answerBy);
		return read.outcome === 'found' ? stateOf(payment, read.transaction) : undefined;
	});
}

function stateOf({ simplify, unit }: OpenPayment, transaction: Transaction): State {
	const isOver = isSettled(transaction.payment_status);
	const json = { ...reportOutput(transaction, simplify, unit), timedOut: !isOver };
	return { isSettled: isOver, json };
}

/**
 * The suspended items with the present states, if the wait is over; an item whose payment could not
 * be read stays as suspended.
 */
function itemsIfOver(
	context: IWebhookFunctions,
	wait: SuspendedWait,
	states: State[],
): INodeExecutionData[] | undefined {
	const isOver = states.every((state) => state?.isSettled) || clock.now() >= wait.deadline;
	if (!isOver) return undefined;
	const suspended = readSuspendedItems(context);
	if (suspended.length !== wait.count) throw new Error('Suspended items are missing');
	const items = suspended.map((json): INodeExecutionData => ({ json }));
	wait.open.forEach(({ index }, nth) => {
		const state = states[nth];
		if (state) items[index] = { json: state.json };
	});
	return items;
}
