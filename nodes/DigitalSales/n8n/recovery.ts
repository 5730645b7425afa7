import type { IExecuteData, IExecuteFunctions } from 'n8n-workflow';
import { BoundedMap, cancelableSleep, clock, processState } from '../shared';
import { readParkedState, wasParkedByAnotherProcess } from './parking';
import { readRunIndex } from './runIndex';

/*
 * When n8n 2.41.1 starts, it first resumes the executions that are due. Then it marks the ones that had been parked as
 * crashed, and goes on to wait with those that wait. If a run ends while its mark is being written, the mark stays, and
 * n8n never resumes the execution. If the recovery reads a row just before the execution is resumed, it writes that it
 * waits, and a minute later n8n resumes it a second time, beside the first. Nothing tells a node about either. If n8n
 * stops it, the first run is late for nothing.
 */

/** From the first resumed execution. The recovery takes longer the more executions were parked. */
const RECOVERY_MS = 60_000;
/** Later, n8n has certainly started. */
const STARTED_MS = 30 * 60_000;

const recovery = processState({
	overAt: Infinity,
	clear() {
		this.overAt = Infinity;
	},
});

/**
 * Executions that were parked before n8n's start, or by another worker, run on once its recovery is over.
 *
 * @throws CanceledError
 */
export async function letRecoveryPass(context: IExecuteFunctions): Promise<void> {
	const age = clock.elapsed();
	if (!wasParkedByAnotherProcess(context) || age > STARTED_MS) return;

	// The first call shows that n8n resumes executions.
	recovery.overAt = Math.min(recovery.overAt, age + RECOVERY_MS);
	await cancelableSleep(recovery.overAt - age, context.getExecutionCancelSignal());
}

/** By execution, node and run: the entry of n8n's stack that has ended it. */
const ended = processState(new BoundedMap<WeakRef<IExecuteData>>({ most: 10_000 }));

/** Whether a run may put out its items, because no second run of the same execution has. A retry of the run may. */
export function isFirstToEnd(context: IExecuteFunctions): boolean {
	if (readParkedState(context) === undefined) return true;

	const key = [context.getExecutionId(), context.getNode().id, readRunIndex(context)].join(' ');
	const entry = context.getExecuteData();
	const first = ended.get(key);
	if (!first) ended.set(key, new WeakRef(entry));

	return !first || first.deref() === entry;
}
