import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { isSameButForCase } from '../domain/hash';
import { isBehind } from '../domain/paymentStatus';
import { accountOf } from '../notice/accountOf';
import { readBody } from '../notice/body';
import { readNotice } from '../notice/parse';
import { answering, Declined, REPLIES } from '../notice/reply';
import { SingleFlight } from '../notice/singleFlight';
import { ANSWER_WITHIN_MS, readBack, SHORTEST_READ_MS } from '../notice/verify';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { PING_ANSWER_WITHIN_MS, pingedWait } from './pingSelf';
import { RETRY_MS, SOON_MS, startPolling } from './poll';
import { readSuspendedItems, readWait, resumeUrl, type SuspendedWait } from './suspendedWait';
import { knownWait, waits, type KnownWait } from './waits';

/** Reads that begin later in a check have too little time left; the next check has more. */
const BEGIN_WITHIN_MS = 3_500;
/** How long one try of a read may take while no sender waits for the answer. */
const LONGEST_PINGED_TRY_MS = 12_000;

const REPLY = {
	open: REPLIES.waiting,
	unfinished: REPLIES.inFlight,
	limited: REPLIES.limited,
	failed: REPLIES.unreachable,
};

/** What an execution goes on with; without items for a caller who waited for the check of another. */
interface Resumption {
	items?: INodeExecutionData[];
	/** Whether n8n has stored that the execution goes on. */
	stored: Promise<boolean>;
}

/** Checks of the payments of a wait, by its id. */
const checks = processWide(new SingleFlight<Resumption>({ pausesAfterFailure: true }));

/**
 * Handles every request to the address of a suspended execution. Whatever it says, the payments are
 * read from the service, and the execution resumes only if all are settled or the time is up: then n8n
 * answers, once it has stored that. Never throws: n8n would fail the execution and still run the next
 * node, with one empty item.
 */
export async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const failure = 'A webhook to a waiting execution could not be handled';
	return await answering(context, failure, async () => ({
		workflowData: [await handleNotice(context)],
	}));
}

async function handleNotice(context: IWebhookFunctions): Promise<INodeExecutionData[]> {
	const calledAt = clock.elapsed();
	const body = await readBody(context);
	const pinged = pingedWait(body);
	const notice = pinged === undefined ? readNotice(body) : undefined;
	if (!notice && pinged === undefined) throw new Declined(REPLIES.noHash);
	const wait = readWait(context);
	if (!notice && pinged !== wait.id) throw new Declined(REPLIES.replaced);
	const known = knownWait(wait);
	const noticed = wait.payments.filter(({ hash }) => isSameButForCase(hash, notice?.hash ?? ''));
	if (notice && noticed.length === 0) throw new Declined(REPLIES.unknown);
	const caller = notice ? { content: `${notice.hash} ${notice.status}` } : { isPing: true };
	const times = notice
		? { answerBy: calledAt + ANSWER_WITHIN_MS }
		: { answerBy: calledAt + PING_ANSWER_WITHIN_MS, longestTryMs: LONGEST_PINGED_TRY_MS };
	const resumption = await checks.run({ key: wait.id, ...caller }, async () => {
		known.notice(noticed);
		// After a restart a notice starts the polling again.
		if (notice && !known.pingBy) startPolling(context, wait, resumeUrl(context, 0));
		const account = await accountOf(context);
		const beginBy = Math.min(clock.elapsed() + BEGIN_WITHIN_MS, times.answerBy - SHORTEST_READ_MS);
		const result = await known.check(async ({ index, hash }, leaves) => {
			const read = await readBack(context, account, hash, { ...times, leaves });
			if (read.outcome !== 'found') return read.isLimited ? 'limited' : 'failed';
			const claimed = noticed.some((one) => one.index === index) ? notice?.status : undefined;
			return isBehind(read.transaction.payment_status, claimed) ? 'failed' : read.transaction;
		}, beginBy);
		if (result !== 'done' && !known.isTimeUp()) {
			// The sender may not come again.
			if (known.isNoticed) known.pingBy?.(clock.elapsed() + RETRY_MS);
			else if (notice && result !== 'open') known.pingBy?.(clock.elapsed() + SOON_MS);
			throw new Declined(REPLY[result]);
		}
		const items = itemsOf(readSuspendedItems(context), wait, known);
		const stored = isStored(context);
		void stored.then((isDone) => {
			if (isDone) waits.delete(wait.id);
			else if (notice) known.pingBy?.(clock.elapsed() + SOON_MS);
		});
		return { result: { items, stored }, resultFor: () => ({ stored }) };
	});
	if (resumption?.items) return resumption.items;
	throw new Declined((await resumption?.stored) ? REPLIES.accepted : REPLIES.inFlight);
}

/** The suspended items in their present state. */
function itemsOf(
	suspended: IDataObject[],
	{ count }: SuspendedWait,
	known: KnownWait,
): INodeExecutionData[] {
	if (suspended.length !== count) throw new Error('Suspended items are missing');
	return suspended.map((json, index) => ({ json: known.itemOf(index, json) }));
}

/** Whether n8n, which answers once it has stored that the execution goes on, does so. */
async function isStored(context: IWebhookFunctions): Promise<boolean> {
	const response = context.getResponseObject();
	if (response.destroyed) return false;
	await new Promise((resolve) => response.once('close', resolve));
	return response.writableFinished && response.statusCode === 200;
}
