import type { IExecuteFunctions } from 'n8n-workflow';
import { ServiceError } from '../api/serviceError';
import { CanceledError } from '../shared/clock';

type Step = 'look' | 'claim';

/**
 * Keeps the items of a run in order. Several items run at the same time, because 100 charges would take four times as
 * long otherwise. The run still sends the same items and ends in the same way as if it sent them one by one.
 *
 * **Before an item is sent**, two steps may refuse it: `look` when the item is picked up, and `claim` after the rate
 * limit has admitted it. `runInOrder` runs each step in the order of the items, so a step refuses item 3 only after the
 * same step has admitted item 2. If a step refuses an item, that step runs for no later item, so no later item is sent.
 * Earlier items have passed the step, and are sent. One step would not do: later items could not wait for the rate
 * limit until it had admitted the earlier ones.
 *
 * **If the service does not accept an item**, or its outcome is unknown, no further item is sent. Requests in flight go
 * on, and the error of the run lists their results. `stopAfter` cancels all waiting by `signal`, before anything else
 * handles the failure. A claim is not interrupted, so it checks `isSendingOver` at its end.
 *
 * **With On Error: Continue** no failure stops other items. Canceling the execution always stops them.
 */
export class ItemOrder {
	private readonly stopping = new AbortController();
	private hasFailed = false;
	/** The last item's turn at each step. */
	private readonly latest: Record<Step, Promise<unknown>> = {
		look: Promise.resolve(),
		claim: Promise.resolve(),
	};

	constructor(private readonly context: IExecuteFunctions) {}

	/**
	 * Cancels waiting when the execution is canceled or the run stops. Each caller gets its own signal, because Node.js
	 * warns of more than ten listeners on one.
	 */
	get signal(): AbortSignal {
		const canceled = this.context.getExecutionCancelSignal();
		const stopped = this.stopping.signal;
		return AbortSignal.any(canceled ? [canceled, stopped] : [stopped]);
	}

	/**
	 * Runs a step of an item after the same step of the items before it.
	 *
	 * @param decide gets a signal that cancels its waiting
	 * @throws CanceledError if an earlier item was refused and the run stops
	 */
	async runInOrder<T>(step: Step, decide: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const turn = this.latest[step].then(
			async () => await decide(this.signal),
			() => {
				throw new CanceledError();
			},
		);
		this.latest[step] = this.context.continueOnFail() ? turn.catch(() => undefined) : turn;
		return await turn;
	}

	/** Starts no further item, unless the run continues after errors. */
	stopAfter(error: unknown): void {
		if (this.context.continueOnFail()) return;
		this.hasFailed ||= error instanceof ServiceError;
		this.stopping.abort();
	}

	/** Whether no further item starts. Items before the failed item may still be sent. */
	get isStopped(): boolean {
		return this.stopping.signal.aborted;
	}

	/** Whether no item is sent any more, whatever its position. */
	get isSendingOver(): boolean {
		return this.hasFailed || this.context.getExecutionCancelSignal()?.aborted === true;
	}
}
