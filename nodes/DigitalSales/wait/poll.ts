import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { callSelf } from './pingSelf';
import type { ParkedWait } from './suspendedWait';

/** By then the execution has been written to the database, and a notice that came before is caught up. */
const FIRST_CALL_AFTER_MS = 1_500;
/** How long an execution may take to be parked. */
const PARKED_WITHIN_MS = 60_000;
/** Longer than one look takes, so that n8n does not end the wait while we do. */
export const FALLBACK_AFTER_MS = 15_000;
/** A timer of more than 24 days would go off at once. */
const LONGEST_SLEEP_MS = 60_000;
const MOST_WATCHED = 10_000;

/**
 * The wait that is watched over in each execution.
 *
 * @internal
 */
export const watches = processWide(new Map<string, string>());

type Context = Pick<IExecuteFunctions | IWebhookFunctions, 'getExecutionId' | 'helpers' | 'logger'>;

/**
 * Watches over a parked execution: calls its own address a moment after it was parked, because a
 * notice that came meanwhile was turned away; then at every re-check, because notices get lost; and
 * at the time limit, because n8n itself comes late and with an old state. The timers live in this
 * process. After a restart the next notice brings them back, and n8n's own limit remains.
 */
export function watchOver(context: Context, wait: ParkedWait, url: string): void {
	const execution = context.getExecutionId();
	if (watches.size >= MOST_WATCHED) return;
	watches.set(execution, wait.id);
	const watch = new Watch(context, wait, url, execution);
	void watch.run().finally(() => {
		if (watch.isOn()) watches.delete(execution);
	});
}

/** Whether a wait is watched over in this process. */
export function isWatched(context: Context, wait: ParkedWait): boolean {
	return watches.get(context.getExecutionId()) === wait.id;
}

/** Ends the watch over an execution whose wait is over: n8n would log its next call as an error. */
export function stopWatching(context: Context): void {
	watches.delete(context.getExecutionId());
}

class Watch {
	private readonly startedAt = clock.now();
	private parked = false;
	private warned = false;

	constructor(
		private readonly context: Context,
		private readonly wait: ParkedWait,
		private readonly url: string,
		private readonly execution: string,
	) {}

	/** Off as soon as a later wait of the same execution is watched over. */
	isOn(): boolean {
		return watches.get(this.execution) === this.wait.id;
	}

	async run(): Promise<void> {
		let at = Math.min(this.startedAt + FIRST_CALL_AFTER_MS, this.wait.deadline);
		while (await this.reaches(at)) {
			const answer = await callSelf(this.context.helpers, this.url, this.wait.id);
			if (answer === 'waiting') this.parked = true;
			if (answer === 'over' || (answer === 'notParked' && this.isPast())) return;
			if (answer === 'unreachable') this.warn();
			if (clock.now() > this.wait.deadline + FALLBACK_AFTER_MS) return;
			at = this.nextCall(answer === 'notParked');
		}
	}

	/** Sleeps until a moment; false where the watch was taken off meanwhile. */
	private async reaches(moment: number): Promise<boolean> {
		for (;;) {
			if (!this.isOn()) return false;
			const left = moment - clock.now();
			if (left <= 0) return true;
			await clock.sleep(Math.min(left, LONGEST_SLEEP_MS));
		}
	}

	/** What was parked and is not any more has gone on; what is not parked for a minute never will be. */
	private isPast(): boolean {
		return this.parked || clock.now() > this.startedAt + PARKED_WITHIN_MS;
	}

	private nextCall(soon: boolean): number {
		const now = clock.now();
		const { deadline, recheckMs } = this.wait;
		if (soon || now >= deadline) return now + FIRST_CALL_AFTER_MS;
		return recheckMs === 0 ? deadline : Math.min(deadline, now + recheckMs);
	}

	private warn(): void {
		if (this.warned) return;
		this.warned = true;
		this.context.logger.warn(
			'Wait for Payment cannot reach this n8n at its own address, so it cannot re-check payments, and its time limit may be late. Check WEBHOOK_URL.',
			{ host: new URL(this.url).host },
		);
	}
}
