import type { IExecuteFunctions } from 'n8n-workflow';
import { cancelableSleep, clock, processState } from '../shared';
import { parkAgain, parkedElsewhere, resumed, turnOffAlwaysOutputData } from './parking';

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
