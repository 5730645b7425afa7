import type {
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { randomBytes } from 'crypto';
import { readBody, readNotice } from '../notice/parse';
import { answering, Declined, REPLIES } from '../notice/reply';
import { accountOf, ANSWER_WITHIN_MS, readBack, SHORTEST_READ_MS } from '../notice/verify';
import type { ItemResult } from '../output/transaction';
import { clock } from '../shared/clock';
import { PING_ANSWER_WITHIN_MS, pingedWait, RETRY_MS, startPolling } from './poll';
import {
	readSuspendedItems,
	readWait,
	resumeUrl,
	storeWait,
	type SuspendedWait,
} from './storedWait';
import { knownWait, waits } from './knownWait';

const ID_BYTES = 12;
/**
 * How long after the time limit n8n itself ends a wait that nothing else has ended: as long again as the
 * limit, within these bounds. Until shortly before, the last look asks again for what it could not read.
 */
const NET_MS = [60_000, 900_000] as const;

/**
 * Suspends the execution if a payment is open. All items of a run share one wait: the longest time
 * limit counts. If n8n itself ends the wait, it passes on the input of the node
 * and runs none of its code, so the results replace that input.
 *
 * @returns the items to show meanwhile, or to pass on if none is open
 */
export async function suspendIfPending(
	context: IExecuteFunctions,
	results: ItemResult[],
): Promise<INodeExecutionData[]> {
	const wait = plannedWait(results);
	if (!wait || wait.deadline <= clock.now()) {
		return results.map(({ pending: _pending, ...item }) => item);
	}
	const { data } = context.getExecuteData();
	data.main = [results.map(({ json }) => ({ json }))];
	storeWait(context, wait);
	await context.putExecutionToWait(new Date(wait.endsAt));
	startPolling(context, wait, resumeUrl(context, 0));
	return results.map(({ pending, ...item }) => {
		if (!pending?.isOpen) return item;
		// While the execution waits, nobody knows whether it will time out.
		const { timedOut: _notYet, ...json } = item.json;
		return { ...item, json };
	});
}

function plannedWait(results: ItemResult[]): SuspendedWait | undefined {
	const pending = results.flatMap((result, index) =>
		result.pending ? [{ ...result.pending, index }] : [],
	);
	if (!pending.some(({ isOpen }) => isOpen)) return undefined;
	// A check begins with the first: while it is open, the others need not be read.
	pending.sort((one, other) => Number(other.isOpen) - Number(one.isOpen));
	const deadline = Math.max(...pending.map((payment) => payment.deadline));
	const [shortest, longest] = NET_MS;
	const netMs = Math.min(longest, Math.max(shortest, deadline - clock.now()));
	return {
		id: randomBytes(ID_BYTES).toString('hex'),
		deadline,
		endsAt: deadline + netMs,
		count: results.length,
		payments: pending,
	};
}

/** Reads that begin later in a check have too little time left; the next check has more. */
const BEGIN_WITHIN_MS = 3_500;
/** While no sender waits for the answer. */
const PINGED = { longestTryMs: 12_000, longestLimiterWaitMs: 3_000 };

const REPLY = {
	open: REPLIES.waiting,
	unfinished: REPLIES.inFlight,
	unread: REPLIES.unread,
};

/**
 * Handles every request to the address of a suspended execution. Whatever it says, the payments are
 * read from the service, and the execution resumes only if all are settled or the time is up: then n8n
 * answers, once it has stored that. Never throws: n8n would fail the execution and still run the next
 * node, with one empty item.
 */
export async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const failure = 'A webhook to a waiting execution could not be handled';
	return await answering(context, failure, async () => ({
		workflowData: [await receive(context)],
	}));
}

/** Gives the items to go on with, or declines. */
async function receive(context: IWebhookFunctions): Promise<INodeExecutionData[]> {
	const calledAt = clock.elapsed();
	const body = await readBody(context);
	const pinged = pingedWait(body);
	const notice = pinged === undefined ? readNotice(body) : undefined;
	if (!notice && pinged === undefined) throw new Declined(REPLIES.noHash);
	const wait = readWait(context);
	if (!notice && pinged !== wait.id) throw new Declined(REPLIES.replaced);
	const known = knownWait(wait);
	if (notice && !known.notice(notice)) throw new Declined(REPLIES.unknown);
	// This process does not ping for it: n8n was restarted, or another process pings.
	if (notice && !known.pingBy) startPolling(context, wait, resumeUrl(context, 0));
	const times = notice
		? { answerBy: calledAt + ANSWER_WITHIN_MS }
		: { answerBy: calledAt + PING_ANSWER_WITHIN_MS, ...PINGED };
	const result = await known.inTurn(notice !== undefined, async () => {
		const account = await accountOf(context);
		const beginBy = Math.min(clock.elapsed() + BEGIN_WITHIN_MS, times.answerBy - SHORTEST_READ_MS);
		return await known.check(
			async (hash, yields) => await readBack(context, account, hash, { ...times, yields }),
			beginBy,
		);
	});
	// Its sender may not come again.
	if (known.isNoticed || (notice && result !== 'open')) known.pingBy?.(clock.elapsed() + RETRY_MS);
	if (known.goingOn)
		throw new Declined((await known.goingOn) ? REPLIES.accepted : REPLIES.inFlight);
	if (result !== 'done' && !known.mustGoOn()) throw new Declined(REPLY[result]);
	const items = known.itemsOf(readSuspendedItems(context));
	known.goingOn = isStored(context).then((isDone) => {
		if (isDone) waits.delete(wait.id);
		known.goingOn = undefined;
		return isDone;
	});
	return items;
}

/** Whether n8n, which answers once it has stored that the execution goes on, does so. */
async function isStored(context: IWebhookFunctions): Promise<boolean> {
	const response = context.getResponseObject();
	if (response.destroyed) return false;
	await new Promise((resolve) => response.once('close', resolve));
	return response.writableFinished && response.statusCode === 200;
}
