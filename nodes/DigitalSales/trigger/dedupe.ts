import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod/v3';
import { lenientText } from '../shared/lenient';
import { normalizeUnicode } from '../domain/text';
import { endQuietly, failFor } from '../n8n/triggerExecution';
import { originOf } from '../n8n/retry';
import { Ledger } from '../idempotency/ledger';
import type { Notice } from '../notification/parse';
import { accountOf } from '../notification/verify';
import { clock, cancelableSleep } from '../shared/clock';
import { digest } from '../shared/digest';

const LONGEST_STATUS = 100;

/**
 * What starts the workflow only once: a transaction with one of its statuses, and an event beside it. JSON,
 * since hash and status may contain any character. Which other event it is does not count: it is only
 * claimed, and with ever new names anybody could start a paid sale again.
 */
export function dedupeKey({ hash, status, event }: Notice): string {
	const key = [hash, status?.slice(0, LONGEST_STATUS)];
	return JSON.stringify(event === undefined ? key : [...key, 'other event']);
}

const textField = lenientText.optional().catch(undefined);
const itemSchema = z.object({
	hash: z.coerce.string(),
	payment_status: textField,
	webhook_event: textField,
});

/**
 * Runs in any process when n8n executes the trigger. Drops its one item if another execution has had the
 * transaction with this status. Tests in the editor may be repeated.
 *
 * @throws NodeOperationError if n8n's database does not answer or take the entry; a Retry tries again
 */
export async function emitOnce(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const ledger = Ledger.of(context);
	if (!ledger || context.getMode() === 'manual') return [items];
	const { hash, payment_status: status, webhook_event: event } = itemSchema.parse(items[0]?.json);
	const name = dedupeKey({ hash, status, event });
	if (!(await isDuplicate(context, ledger, name))) return [items];
	endQuietly(context);
	return [[]];
}

/** Nobody sends the notice again: a database that is busy for a while must not lose the sale. */
const PAUSES_MS = [1_000, 5_000, 25_000];

async function isDuplicate(
	context: IExecuteFunctions,
	ledger: Ledger,
	name: string,
): Promise<boolean> {
	for (let tries = 0; ; tries++) {
		const failure = (error: unknown) => ({ error });
		const isTaken = await isTakenByOther(context, ledger, name).catch(failure);
		if (typeof isTaken === 'boolean') return isTaken;
		const pauseMs = PAUSES_MS[tries];
		if (pauseMs === undefined) throw failFor(context, notRecorded(context, isTaken.error));
		await cancelableSleep(pauseMs * (0.5 + clock.random()), context.getExecutionCancelSignal());
	}
}

function notRecorded(context: IExecuteFunctions, error: unknown): NodeOperationError {
	const reason = error instanceof Error ? error.message : String(error);
	return new NodeOperationError(
		context.getNode(),
		'n8n could not record this webhook, so the workflow was not started',
		{
			description: `Reason: ${reason}.\nCheck the database of n8n and the credential of this node, then retry this execution.`,
		},
	);
}

/**
 * Whether another execution has the notice; if not, this one takes it, under its own name, so that a Retry
 * after a crash, or a second try, has it as well.
 */
async function isTakenByOther(
	context: IExecuteFunctions,
	ledger: Ledger,
	name: string,
): Promise<boolean> {
	const { baseUrl } = await accountOf(context);
	return !(await ledger.claimKey(
		digest('taken', baseUrl, normalizeUnicode(name)),
		originOf(context),
	));
}
