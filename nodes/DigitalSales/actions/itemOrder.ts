import { compact } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import { ServiceError } from '../api';
import { CanceledError } from '../shared';

type Step = 'look' | 'claim';

/**
 * Several items run at once, because 100 charges would otherwise take four times as long.
 *
 * Two steps may refuse an item: `look` when it is picked up, and `claim` once the rate limit admits it, so that items
 * wait together. Each step runs in the order of the items, and for no item after a refused item.
 *
 * After a failed request no further item is sent. Requests in flight go on. A claim is not interrupted, so it checks
 * `mustNotSend` at its end. With On Error: Continue, only canceling the execution stops other items.
 */
export class ItemOrder {
	private readonly stopping = new AbortController();
	/** Items that have started may still be sent. */
	readonly stopped = this.stopping.signal;
	private hasServiceFailed = false;
	private readonly latest: Record<Step, Promise<unknown>> = {
		look: Promise.resolve(),
		claim: Promise.resolve(),
	};

	constructor(private readonly context: IExecuteFunctions) {}

	get signal(): AbortSignal {
		const canceled = this.context.getExecutionCancelSignal();
		return AbortSignal.any(compact([canceled, this.stopped]));
	}

	/** @throws CanceledError after a refused item */
	async runInOrder<T>(step: Step, decide: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const turn = this.latest[step].then(
			async () => await decide(this.signal),
			() => {
				throw new CanceledError();
			},
		);

		this.latest[step] = turn;
		if (this.context.continueOnFail()) this.latest[step] = turn.catch(() => undefined);
		return await turn;
	}

	stopAfter(error: unknown): void {
		if (this.context.continueOnFail()) return;
		this.hasServiceFailed ||= error instanceof ServiceError;
		this.stopping.abort();
	}

	get mustNotSend(): boolean {
		return this.hasServiceFailed || this.context.getExecutionCancelSignal()?.aborted === true;
	}
}
