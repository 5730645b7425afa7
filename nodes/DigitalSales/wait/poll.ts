import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { isLooking, READS_AT_ONCE, type Look } from './look';
import { PING_ANSWER_WITHIN_MS, PING_TIMEOUT_MS, pingSelf } from './pingSelf';
import type { SuspendedWait } from './suspendedWait';

/** By then the execution has been stored; the first ping makes up for a notice that came before. */
const FIRST_PING_AFTER_MS = 1_500;
/** How long n8n may take to suspend an execution. */
const SUSPENDED_WITHIN_MS = 60_000;
/** After a ping that reached nothing: a proxy may be restarting. */
const UNREACHED_PAUSE_MS = 30_000;
/** For a ping that is under way at the time limit. */
const UNDER_WAY_MS = PING_TIMEOUT_MS;
/** Longer than one check, so that n8n does not end the wait while we do. */
const LAST_LOOK_MS = PING_ANSWER_WITHIN_MS + 5_000;
/** A timer of more than 24 days would fire at once. */
const LONGEST_SLEEP_MS = 60_000;
const MOST_POLLERS = 10_000;

/**
 * The wait that is polled, by execution.
 *
 * @internal
 */
export const polledWaits = processWide(new Map<string, string>());

type Context = Pick<IExecuteFunctions | IWebhookFunctions, 'getExecutionId' | 'helpers' | 'logger'>;

/**
 * Pings the address of a suspended execution: a moment after it was suspended, because an earlier
 * notice was rejected; at every re-check, because notices get lost; and at the time limit, because n8n
 * itself comes late and with an old state. After a restart of n8n the next notice starts it again.
 */
export function startPolling(context: Context, wait: SuspendedWait, url: string): void {
	if (polledWaits.size >= MOST_POLLERS) {
		context.logger.warn(
			`Wait for Payment: ${MOST_POLLERS} executions wait already, so this one is not re-checked; it continues when a webhook comes, or after its time limit.`,
		);
		return;
	}
	polledWaits.set(context.getExecutionId(), wait.id);
	void new Poller(context, wait, url).run().finally(() => {
		if (isPolling(context, wait)) stopPolling(context);
	});
}

/** Whether this process polls the wait, and not a later one of the same execution. */
export function isPolling(context: Context, wait: SuspendedWait): boolean {
	return polledWaits.get(context.getExecutionId()) === wait.id;
}

/** Stops polling when the wait is over: n8n would log the next ping as an error. */
export function stopPolling(context: Context): void {
	polledWaits.delete(context.getExecutionId());
}

/** Has another check go on with a look that one check could not finish, whatever the interval is. */
export async function pingForLook(
	context: Context,
	wait: SuspendedWait,
	url: string,
	look: Look,
): Promise<void> {
	if (look.isScheduled) return;
	look.isScheduled = true;
	await clock.sleep(look.pauseMs);
	look.isScheduled = false;
	if (isLooking(wait, look)) await pingSelf(context.helpers, url, wait.id);
}

/**
 * When n8n itself ends a wait that nothing else has ended. Until then there is time for the end of a
 * check, and for as many as a slow service needs for one last look at all payments.
 */
export function fallbackAt({
	deadline,
	payments,
}: Pick<SuspendedWait, 'deadline' | 'payments'>): number {
	const checks = Math.max(1, Math.ceil(payments.length / READS_AT_ONCE));
	return deadline + UNDER_WAY_MS + checks * LAST_LOOK_MS;
}

class Poller {
	private readonly startedAt = clock.now();
	private wasSuspended = false;
	/** How many pings in a row have reached nothing. */
	private unreached = 0;
	private hasWarned = false;

	constructor(
		private readonly context: Context,
		private readonly wait: SuspendedWait,
		private readonly url: string,
	) {}

	async run(): Promise<void> {
		let at = Math.min(this.startedAt + FIRST_PING_AFTER_MS, this.wait.deadline);
		while (await this.reaches(at)) {
			const answer = await pingSelf(this.context.helpers, this.url, this.wait.id);
			if (answer === 'waiting') this.wasSuspended = true;
			if (answer === 'over' || (answer === 'notSuspended' && this.isPast())) return;
			this.unreached = answer === 'unreachable' ? this.unreached + 1 : 0;
			if (this.unreached > 1) this.warn();
			if (clock.now() > fallbackAt(this.wait)) return;
			at = this.nextPing(answer === 'notSuspended');
		}
	}

	/** Sleeps until a moment; false if polling was stopped meanwhile. */
	private async reaches(moment: number): Promise<boolean> {
		while (isPolling(this.context, this.wait)) {
			const left = moment - clock.now();
			if (left <= 0) return true;
			await clock.sleep(Math.min(left, LONGEST_SLEEP_MS));
		}
		return false;
	}

	/** Whether an execution that is not suspended has resumed, or never will be suspended. */
	private isPast(): boolean {
		return this.wasSuspended || clock.now() > this.startedAt + SUSPENDED_WITHIN_MS;
	}

	private nextPing(soon: boolean): number {
		const now = clock.now();
		const { deadline, recheckMs } = this.wait;
		if (soon || now >= deadline) return now + FIRST_PING_AFTER_MS;
		const pauses = [deadline - now];
		if (recheckMs > 0) pauses.push(recheckMs);
		if (this.unreached === 1) pauses.push(UNREACHED_PAUSE_MS);
		return now + Math.min(...pauses);
	}

	private warn(): void {
		if (this.hasWarned) return;
		this.hasWarned = true;
		this.context.logger.warn(
			'Wait for Payment cannot reach this n8n at its own address, so it cannot re-check payments, and its time limit may be late. Check N8N_WEBHOOK_URL.',
			{ host: new URL(this.url).host },
		);
	}
}
