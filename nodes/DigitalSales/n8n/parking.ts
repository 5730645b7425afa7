import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteData, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod/v3';
import { BoundedMap, clock, digest, processState, unlessCanceled } from '../shared';

/*
 * Since n8n 2.30.0, n8n puts the entry of a waiting node back at the front of its stack. On resuming, it disables the
 * node and hands on the entry's input. So `parkEntry` empties the entry, and adds a copy with the input, which n8n
 * runs next. If that stops, the node refuses to wait, or a waiting execution ends without running the next nodes.
 */

/** The state is an item, because n8n redacts items for people without permission. */
const STATE_KEY = 'digitalSalesWait';

/** `z.custom`, because the code writes to n8n's own object, and other schemas copy. */
const contextSchema = z.object({
	runExecutionData: z.object({
		executionData: z.object({ nodeExecutionStack: z.custom<IExecuteData[]>(Array.isArray) }),
	}),
});
const stateSchema = z.object({
	[STATE_KEY]: z.tuple([
		z.tuple([z.object({ json: z.object({ state: z.unknown(), parkedBy: z.string() }) })]),
	]),
});

/** n8n may first have to update its database. */
const LONGEST_START_MS = 30 * 60_000;

const thisProcess = processState({
	id: randomUUID(),
	/** By `clock.elapsed()`, in milliseconds. */
	recoveryOverAt: LONGEST_START_MS,
	clear() {
		this.id = randomUUID();
		this.recoveryOverAt = clock.elapsed() + LONGEST_START_MS;
	},
});

export function readParkedState(context: IExecuteFunctions): unknown {
	return readParked(context)?.state;
}

function readParked(context: IExecuteFunctions): { state?: unknown; parkedBy: string } | undefined {
	const { data } = stateSchema.safeParse(context.getExecuteData().data);
	return data?.[STATE_KEY][0][0].json;
}

/**
 * The node runs again at `until`, or when a webhook comes. Always Output Data must be off: it would run the nodes after the
 * first output with an empty item.
 *
 * @throws NodeOperationError if this version of n8n keeps its entries elsewhere
 */
export async function parkExecution(
	context: IExecuteFunctions,
	until: Date,
	state: IDataObject,
): Promise<void> {
	const { data } = context.getExecuteData();
	const parked = { state, parkedBy: thisProcess.id };
	const key = keyIfParkedElsewhere(context);

	await parkEntry(context, until, { ...data, [STATE_KEY]: [[{ json: parked }]] });
	// The next run has another key.
	if (key !== undefined) resumed.delete(key);
}

async function parkEntry(
	context: IExecuteFunctions,
	until: Date,
	data: IExecuteData['data'],
): Promise<void> {
	const entry = context.getExecuteData();
	const { data: internals } = contextSchema.safeParse(context);
	const stack = internals?.runExecutionData.executionData.nodeExecutionStack;
	if (!stack || !entry.data.main) {
		const message = `${context.getNode().name} cannot wait in this version of n8n`;
		const description = 'Nothing waits. Update the package.';
		throw new NodeOperationError(context.getNode(), message, { description });
	}

	// A copy, because n8n disables the node of the original.
	stack.unshift({ ...entry, node: { ...entry.node }, data });
	entry.data = { main: [] };
	await context.putExecutionToWait(until);
}

/*
 * n8n 2.41.1 resumes what is due as it starts, while its recovery still runs. Nothing tells a node of the two faults that
 * follow. If n8n no longer does this, the first run is late for nothing.
 * - The recovery marks a resumed execution as crashed. If the run ends while the mark is written, the mark stays, and n8n
 *   never resumes it. So the first run sleeps until the recovery is over.
 * - The recovery writes that a resumed execution waits, and a minute later n8n resumes it again, beside the first run. n8n
 *   keeps the end that comes last, so the second run parks until the first has ended.
 */

/** From the first resumed execution: longer than a minute, so that the first run is still here when the second comes. */
const RECOVERY_MS = 75_000;
/** A second run parks for this long, but only until this long after the first goes on, or it could park for ever. */
const SECOND_RUN_MS = 60_000;

interface Resumed {
	entry: WeakRef<IExecuteData>;
	/** By `clock.elapsed()`, in milliseconds. */
	goesOnAt: number;
}

/** The entries parked elsewhere that this process has resumed, and has not parked since. */
const resumed = processState(new BoundedMap<Resumed>({ most: 10_000 }));

/** Identifies an entry that was parked before n8n's start, or by another worker. Undefined for others. */
function keyIfParkedElsewhere(context: IExecuteFunctions): string | undefined {
	const parked = readParked(context);
	if (!parked || parked.parkedBy === thisProcess.id) return undefined;
	return digest(context.getExecutionId(), JSON.stringify(parked));
}

/**
 * Executions that were parked before n8n's start, or by another worker, run on once its recovery is over. Of two runs of
 * one, the second waits again, so that the end of the first counts.
 *
 * @returns false for a second run: it is parked again, or ends if the first is overdue
 * @throws CanceledError
 */
export async function letRecoveryPass(context: IExecuteFunctions): Promise<boolean> {
	const key = keyIfParkedElsewhere(context);
	if (key === undefined) return true;

	const uptime = clock.elapsed();
	const entry = context.getExecuteData();
	const first = resumed.get(key);
	// Retry On Fail runs the same entry again.
	if (first?.entry.deref() === entry) return true;

	if (first) {
		const isFirstExpected = uptime < first.goesOnAt + SECOND_RUN_MS;
		const until = new Date(clock.now() + SECOND_RUN_MS);
		if (isFirstExpected) await parkEntry(context, until, entry.data);
		return false;
	}

	// The first call after n8n's start shows that n8n resumes executions.
	thisProcess.recoveryOverAt = Math.min(thisProcess.recoveryOverAt, uptime + RECOVERY_MS);
	const goesOnAt = Math.max(uptime, thisProcess.recoveryOverAt);
	resumed.set(key, { entry: new WeakRef(entry), goesOnAt });
	await unlessCanceled(clock.sleep(goesOnAt - uptime), context.getExecutionCancelSignal());

	return true;
}
