import type { IExecuteFunctions } from 'n8n-workflow';
import { ServiceError } from '../api/serviceError';
import { CanceledError } from '../shared/clock';

/** The two steps that decide about an item. */
type Step = 'look' | 'claim';

/**
 * Keeps the items of a run in order. Several items run concurrently, because a list of 100 charges would take four
 * times as long otherwise. What a run sends and how it ends is as if the items were sent one after the other.
 *
 * **Before an item is sent**, two steps decide about it. `look` runs when the item is picked up. Then the item waits
 * for the rate limit. `claim` enters it into n8n's database. Either step may refuse the item. `runInOrder` runs each
 * step in the order of the items: item 3 is looked up after item 2, and claimed after item 2, while item 1 may be in
 * flight. If a step refuses an item and the run stops at errors, that step runs for no later item: nothing after a
 * refused item is sent, however long the refusal took. The items before it had that step, and are sent. A single step
 * would not do: it would last until the rate limit admits the item, and later items would not even get in line.
 *
 * **When the service does not accept an item**, or the outcome is unknown, the run is over: no further item is sent,
 * wherever it stands. Requests in flight go on, and the error of the run lists what they made. `stopAfter` cancels all
 * waiting by `signal`: for the rate limit, for a pause, for an equal charge. It is called before anything else is done
 * about the failure, so that no item starts meanwhile. A claim is not interrupted, so it checks `isSendingOver` at its
 * end, and is then released.
 *
 * **With On Error: Continue** no item ends the run, and a refusal does not stop later items. Canceling the execution
 * always ends the run.
 */
export class ItemOrder {
	private readonly stopping = new AbortController();
	private hasFailed = false;
	/** The latest turn of each step. */
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

	/** An item has failed, so no new item starts, unless the run continues at errors. */
	stopAfter(error: unknown): void {
		if (this.context.continueOnFail()) return;
		this.hasFailed ||= error instanceof ServiceError;
		this.stopping.abort();
	}

	/** Whether no item starts any more. */
	get isStopped(): boolean {
		return this.stopping.signal.aborted;
	}

	/** Whether nothing more is sent, not even items before the failed one. */
	get isSendingOver(): boolean {
		return this.hasFailed || this.context.getExecutionCancelSignal()?.aborted === true;
	}
}
