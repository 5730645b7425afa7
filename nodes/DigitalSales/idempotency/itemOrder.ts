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
 * After a failure no further item starts, and items that wait for a permit are canceled. A claim under way is not
 * interrupted: its item is sent unless a request has failed or the execution is canceled (`mustNotSend`). Requests in
 * flight go on. With On Error: Continue, only canceling the execution stops other items.
 */
export class ItemOrder {
	private readonly stopping = new AbortController();
	/** By the first failure. */
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
	async runInOrder<T>(step: Step, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const turn = this.latest[step].then(
			async () => await task(this.signal),
			() => {
				throw new CanceledError();
			},
		);

		this.latest[step] = this.context.continueOnFail() ? turn.catch(() => undefined) : turn;
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
