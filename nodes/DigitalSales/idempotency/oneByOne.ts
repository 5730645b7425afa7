import type { IExecuteFunctions } from 'n8n-workflow';
import { ServiceError } from '../api/serviceError';
import { CanceledError } from '../shared/clock';

/** An item is looked up when it comes up, and claimed when it is about to be sent. */
type Step = 'look' | 'claim';

/**
 * Keeps the items of a run in order. Several are under way at once, since a list of 100 charges would
 * take four times as long otherwise; but what a run sends and how it ends is as if they were sent one
 * after the other.
 *
 * **Before an item is sent**, two steps decide about it. `look` asks what is known of it; then it waits
 * for the rate limit; `claim` enters it into n8n's database. Either step may refuse it. `turn` runs each
 * step in the order of the items: item 3 is looked up after item 2, and claimed after item 2, while
 * item 1 may be under way. If a step refuses an item and the run stops at errors, the items after it
 * have no turn any more: nothing after a refused item is sent, however long the refusal took. The items
 * before it have had that step, and are sent. One step for both would not do: it would last until the
 * rate limit lets the item through, and the items after it would not even get in line.
 *
 * **When the service does not accept an item**, or nobody knows whether it did, the run is over: no item
 * is sent any more, whatever its place. Requests under way go on, and the error of the run lists what
 * they made. `failed` cancels all waiting by `signal`: for the rate limit, for a pause, for an equal
 * charge. It is called before anything else is done about the failure, so that no item starts meanwhile.
 * A claim is not interrupted, so it asks `isOver` at its end, and is taken back.
 *
 * **With On Error: Continue** no item ends the run, and a refusal does not keep others from their turn.
 * Canceling the execution always ends it.
 */
export class OneByOne {
	private readonly stopping = new AbortController();
	private hasFailed = false;
	/** The latest turn of each step. */
	private readonly latest: Record<Step, Promise<unknown>> = {
		look: Promise.resolve(),
		claim: Promise.resolve(),
	};

	constructor(private readonly context: IExecuteFunctions) {}

	/**
	 * Cancels waiting, when the execution is canceled or the run stops. Each time a signal of its own:
	 * Node.js warns of more than ten listeners on one.
	 */
	get signal(): AbortSignal {
		const canceled = this.context.getExecutionCancelSignal();
		const stopped = this.stopping.signal;
		return AbortSignal.any(canceled ? [canceled, stopped] : [stopped]);
	}

	/**
	 * Runs a step of an item after the same step of the items before it.
	 *
	 * @param decide takes what cancels its waiting
	 * @throws CanceledError if an earlier item was refused and the run stops
	 */
	async turn<T>(step: Step, decide: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const turn = this.latest[step].then(
			async () => await decide(this.signal),
			() => {
				throw new CanceledError();
			},
		);
		this.latest[step] = this.context.continueOnFail() ? turn.catch(() => undefined) : turn;
		return await turn;
	}

	/** An item has failed: nothing new is begun, unless the run continues. */
	failed(error: unknown): void {
		if (this.context.continueOnFail()) return;
		this.hasFailed ||= error instanceof ServiceError;
		this.stopping.abort();
	}

	/** Whether no item is begun any more. */
	get isStopped(): boolean {
		return this.stopping.signal.aborted;
	}

	/** Whether nothing more is sent, not even of the items before the one that has failed. */
	get isOver(): boolean {
		return this.hasFailed || this.context.getExecutionCancelSignal()?.aborted === true;
	}
}
