import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteData, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod/v3';
import { BoundedMap, cancelableSleep, clock, digest, processState } from '../shared';
import { turnOffAlwaysOutputData } from './execution';

/*
 * Since n8n 2.30.0, n8n puts the entry of a waiting node back at the front of its stack. On resuming, it disables the
 * node and hands on the entry's input. So `parkExecution` empties the entry, and adds a copy with the input, which n8n
 * runs next. If that stops, the node refuses to wait, or a waiting execution ends without running the next nodes.
 */

/** The state is an item, because n8n redacts items for people without permission. */
const STATE_KEY = 'digitalSalesWait';

/** `z.custom`, because the code writes to n8n's own object, and other schemas copy. */
const contextSchema = z.object({
	runExecutionData: z.object({
		executionData: z.object({
			nodeExecutionStack: z.custom<IExecuteData[]>(Array.isArray),
		}),
	}),
});
const stateSchema = z.object({
	[STATE_KEY]: z.tuple([
		z.tuple([z.object({ json: z.object({ state: z.unknown(), parkedBy: z.string() }) })]),
	]),
});

const thisProcess = processState({
	id: randomUUID(),
	clear() {
		this.id = randomUUID();
	},
});

interface Resumed {
	entry: WeakRef<IExecuteData>;
	/** By `clock.elapsed()`, in milliseconds. */
	goesOnAt: number;
}

/** The entries parked elsewhere that this process has resumed, and has not parked since. */
const resumed = processState(new BoundedMap<Resumed>({ most: 10_000 }));

export function readParkedState(context: IExecuteFunctions): unknown {
	return readParked(context)?.state;
}

/** @returns what tells an entry apart that was parked before a restart of n8n, or on another worker */
function parkedElsewhere(context: IExecuteFunctions): string | undefined {
	const parked = readParked(context);
	const isElsewhere = parked !== undefined && parked.parkedBy !== thisProcess.id;

	return isElsewhere ? digest(context.getExecutionId(), JSON.stringify(parked)) : undefined;
}

function readParked(context: IExecuteFunctions): { state?: unknown; parkedBy: string } | undefined {
	const { data } = stateSchema.safeParse(context.getExecuteData().data);
	return data?.[STATE_KEY][0][0].json;
}

/** @throws NodeOperationError if this version of n8n keeps its entries elsewhere */
export function assertCanPark(context: IExecuteFunctions, itemIndex: number): void {
	if (findStack(context)) return;
	const message = `${context.getNode().name} cannot wait in this version of n8n`;
	const description = 'Nothing waits. Update the package.';
	throw new NodeOperationError(context.getNode(), message, { description, itemIndex });
}

/** The node runs again at `until`, or when a webhook comes. */
export async function parkExecution(
	context: IExecuteFunctions,
	until: Date,
	state: IDataObject,
): Promise<void> {
	const { data } = context.getExecuteData();
	const parked = { state, parkedBy: thisProcess.id };
	resumed.delete(parkedElsewhere(context) ?? '');

	await park(context, until, { ...data, [STATE_KEY]: [[{ json: parked }]] });
}

/** As it was parked before. */
async function parkAgain(context: IExecuteFunctions, until: Date): Promise<void> {
	await park(context, until, context.getExecuteData().data);
}

async function park(
	context: IExecuteFunctions,
	until: Date,
	data: IExecuteData['data'],
): Promise<void> {
	const entry = context.getExecuteData();
	// A copy, because n8n disables the node of the original.
	findStack(context)?.unshift({ ...entry, node: { ...entry.node }, data });

	entry.data = { main: [] };
	turnOffAlwaysOutputData(context);
	await context.putExecutionToWait(until);
}

function findStack(context: IExecuteFunctions): IExecuteData[] | undefined {
	const { data } = contextSchema.safeParse(context);
	const { main } = context.getExecuteData().data;
	return main && data?.runExecutionData.executionData.nodeExecutionStack;
}

/*
 * When n8n 2.41.1 starts, it first resumes the executions that are due. Then it marks the ones that had been parked as
 * crashed, and goes on to wait with those that wait. If a run ends while its mark is being written, the mark stays, and
 * n8n never resumes the execution. If the recovery reads a row just before the execution is resumed, it writes that it
 * waits, and a minute after its start n8n resumes it a second time, beside the first. Nothing tells a node about either.
 * If n8n stops it, the first run is late for nothing.
 */

/** From the first resumed execution: longer than a minute, so that the first run is still here when the second comes. */
const RECOVERY_MS = 75_000;
/** Later, n8n has certainly started. */
const STARTED_MS = 30 * 60_000;
const SECOND_RUN_MS = 60_000;

const recovery = processState({
	overAt: Infinity,
	clear() {
		this.overAt = Infinity;
	},
});

/**
 * Executions that were parked before n8n's start, or by another worker, run on once its recovery is over. Of two runs of
 * one, the second waits again, so that the end of the first counts.
 *
 * @returns false for a second run, which puts out nothing
 * @throws CanceledError
 */
export async function letRecoveryPass(context: IExecuteFunctions): Promise<boolean> {
	const key = parkedElsewhere(context);
	if (key === undefined) return true;

	const [uptime, entry] = [clock.elapsed(), context.getExecuteData()];
	const first = resumed.get(key);
	// Retry On Fail runs the same entry again.
	if (first?.entry.deref() === entry) return true;
	if (first) {
		turnOffAlwaysOutputData(context);
		// n8n keeps the end that comes last, so this run parks again until the first has certainly ended.
		const hasFirstEnded = uptime >= first.goesOnAt + SECOND_RUN_MS;
		if (!hasFirstEnded) await parkAgain(context, new Date(clock.now() + SECOND_RUN_MS));
		return false;
	}

	// The first call shows that n8n resumes executions.
	if (uptime <= STARTED_MS) recovery.overAt = Math.min(recovery.overAt, uptime + RECOVERY_MS);
	const goesOnAt = uptime <= STARTED_MS ? Math.max(uptime, recovery.overAt) : uptime;
	resumed.set(key, { entry: new WeakRef(entry), goesOnAt });
	await cancelableSleep(goesOnAt - uptime, context.getExecutionCancelSignal());

	return true;
}
