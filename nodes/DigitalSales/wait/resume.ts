import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { clock } from '../shared/clock';
import { inOrder } from '../shared/mapLimit';
import { readNotice } from '../notice/parse';
import { isSameButForCase } from '../domain/hash';
import { isSettled } from '../domain/paymentStatus';
import { accountOf } from '../notice/accountOf';
import { reportOutput } from '../output/transaction';
import type { Transaction } from '../api/schemas/transaction';
import { isTooLarge, readBody } from '../notice/body';
import { ANSWER_WITHIN_MS, readBack } from '../notice/readBack';
import { answer, REPLIES, type Reply } from '../notice/reply';
import { calledWait } from './pingSelf';
import { askForTurn } from '../notice/singleFlight';
import { readParkedItems, readWait, type OpenPayment, type ParkedWait } from './suspendedWait';
import { resumeUrl } from './resumeUrl';
import { isWatched, stopWatching, watchOver } from './poll';

type Outcome = { reply: Reply; items?: INodeExecutionData[] };

/** A payment as it is now; undefined where the service could not be asked. */
type State = { settled: boolean; json: IDataObject } | undefined;

const READS_AT_ONCE = 20;

/**
 * Is called with whatever is sent to the address of a parked execution. Whoever calls, it looks at
 * the payments itself, and the execution goes on only when all of them are settled or the time is up.
 * It never throws: n8n would end the execution as failed and still run the next node, with one empty
 * item.
 */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	let outcome: Outcome;
	try {
		outcome = await judge(context);
	} catch (error) {
		context.logger.error('A notification to a waiting execution could not be handled', {
			reason: error instanceof Error ? error.name : typeof error,
		});
		outcome = { reply: REPLIES.unreachable };
	}
	const { reply, items } = outcome;
	answer(context, reply);
	return { noWebhookResponse: true, ...(items ? { workflowData: [items] } : {}) };
}

async function judge(context: IWebhookFunctions): Promise<Outcome> {
	const answerBy = clock.elapsed() + ANSWER_WITHIN_MS;
	if (isTooLarge(context)) return { reply: REPLIES.tooLarge };
	const body = readBody(context);
	const called = calledWait(body);
	const notice = readNotice(body);
	if (called === undefined && !notice) return { reply: REPLIES.noHash };
	const wait = readWait(context);
	if (called !== undefined && called !== wait.id) return { reply: REPLIES.replaced };
	if (notice && !wait.open.some(({ hash }) => isSameButForCase(hash, notice.hash))) {
		return { reply: REPLIES.unknown };
	}
	const turn = await askForTurn({
		subject: `wait ${wait.id}`,
		claim: notice && `${notice.hash} ${notice.status}`,
		urgent: called !== undefined,
	});
	if (!turn.granted) return { reply: turn.over ? REPLIES.accepted : REPLIES.inHand };
	let over = false;
	try {
		const outcome = await look(context, wait, answerBy);
		over = outcome.items !== undefined;
		if (over) stopWatching(context);
		else if (notice && !isWatched(context, wait)) {
			watchOver(context, wait, resumeUrl(context, 0));
		}
		return outcome;
	} finally {
		turn.end({ pause: true, over });
	}
}

async function look(
	context: IWebhookFunctions,
	wait: ParkedWait,
	answerBy: number,
): Promise<Outcome> {
	const account = await accountOf(context);
	const states = await inOrder(wait.open, READS_AT_ONCE, async (payment): Promise<State> => {
		const read = await readBack(context, account, payment.hash, answerBy);
		return read.outcome === 'found' ? stateOf(payment, read.transaction) : undefined;
	});
	if (states.every((state) => state?.settled) || clock.now() >= wait.deadline) {
		return { reply: REPLIES.accepted, items: itemsOf(context, wait, states) };
	}
	return { reply: states.includes(undefined) ? REPLIES.unreachable : REPLIES.waiting };
}

function stateOf({ simplify, unit }: OpenPayment, transaction: Transaction): State {
	const settled = isSettled(transaction.payment_status);
	return { settled, json: { ...reportOutput(transaction, simplify, unit), timedOut: !settled } };
}

/** The parked items with the states put in; an item whose payment could not be read stays as parked. */
function itemsOf(
	context: IWebhookFunctions,
	wait: ParkedWait,
	states: State[],
): INodeExecutionData[] {
	const parked = readParkedItems(context);
	if (parked.length !== wait.count) throw new Error('Some suspended items are missing');
	const items = parked.map((json): INodeExecutionData => ({ json }));
	wait.open.forEach(({ index }, nth) => {
		const state = states[nth];
		if (state) items[index] = { json: state.json };
	});
	return items;
}
