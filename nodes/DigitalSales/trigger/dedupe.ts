import { type IExecuteFunctions, type INodeExecutionData, NodeOperationError } from 'n8n-workflow';
import { z } from 'zod/v3';
import { cancelableSleep, clock, digest, lenientText } from '../shared';
import { normalizeUnicode } from '../domain';
import { endWithoutItem, Ledger, originKey, stopWithError } from '../n8n';
import type { Notification } from '../notification';

const LONGEST_STATUS = 100;

export interface Change extends Omit<Notification, 'event'> {
	/** Null for an event whose webhook named no status, or another than was read. */
	event?: string | null;
}

/**
 * A status has one key for a webhook without an event, and one for all events, whose names anybody could invent. A null
 * event takes both, because the webhook that belongs to the status may come before or after it.
 */
export function dedupeKeys({ hash, status, event }: Change): string[] {
	const key = [hash, status?.slice(0, LONGEST_STATUS).toLowerCase()];
	const keys = [key, [...key, 'other event']].map((one) => normalizeUnicode(JSON.stringify(one)));
	if (event === null) return keys;
	return event === undefined ? keys.slice(0, 1) : keys.slice(1);
}

const textField = lenientText.nullish().catch(undefined);
const itemSchema = z.object({
	hash: z.coerce.string(),
	payment_status: textField,
	webhook_event: textField,
});

/**
 * Drops the item if another execution has claimed its transaction and status.
 *
 * @throws NodeOperationError if n8n's database fails
 */
export async function emitOnce(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const ledger = Ledger.forContext(context);
	if (!ledger || context.getMode() === 'manual') return [items];
	const { hash, payment_status: status, webhook_event: event } = itemSchema.parse(items[0]?.json);
	for (const key of dedupeKeys({ hash, status, event })) {
		if (await claimNotification(context, ledger, key)) continue;
		endWithoutItem(context);
		return [[]];
	}
	return [items];
}

/** Long, because a platform does not repeat an answered webhook. */
const PAUSES_MS = [1_000, 5_000, 25_000];

/** @returns false if another execution has the key; a Retry has the keys of its original */
async function claimNotification(
	context: IExecuteFunctions,
	ledger: Ledger,
	key: string,
): Promise<boolean> {
	for (let tries = 0; ; tries++) {
		try {
			return await ledger.claimKey(digest('taken', key), originKey(context));
		} catch (error) {
			const pauseMs = PAUSES_MS[tries];
			if (pauseMs === undefined) throw stopWithError(context, notRecordedError(context, error));
			await cancelableSleep(pauseMs * (0.5 + clock.random()), context.getExecutionCancelSignal());
		}
	}
}

function notRecordedError(context: IExecuteFunctions, error: unknown): NodeOperationError {
	const reason = error instanceof Error ? error.message : String(error);
	const message = 'n8n could not record this webhook, so the workflow was not started';
	const description = `Reason: ${reason}.\nCheck the database of n8n, then retry this execution.`;
	return new NodeOperationError(context.getNode(), message, { description });
}
