import clamp from 'lodash/clamp';
import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { pingSelf, type PingAnswer } from './pingSelf';
import type { SuspendedWait } from './suspendedWait';
import { knownWait, waits, type KnownWait } from './waits';

/** By then the execution has been stored; the first ping makes up for a notice that came before. */
export const SOON_MS = 1_500;
/** How long n8n may take to suspend an execution. */
const SUSPENDED_WITHIN_MS = 60_000;
/** After a ping that read nothing, or reached nothing: a proxy may be restarting. */
export const RETRY_MS = 15_000;
/**
 * Between two looks a part of the time that has passed, within these bounds: most pay within minutes,
 * and a day costs about a hundred reads.
 */
const PART_OF_AGE = 1 / 20;
const PAUSE_MS = [60_000, 3_600_000] as const;
/** Of the pause, while the rate limit keeps reads back. */
const MOST_DOUBLINGS = 4;
/** A timer of more than 24 days would fire at once. */
const LONGEST_SLEEP_MS = 60_000;

type Context = Pick<IExecuteFunctions | IWebhookFunctions, 'helpers' | 'logger'>;

/**
 * Pings the address of a suspended execution: a moment after it was suspended, because an earlier
 * notice was rejected; then ever more rarely, because notices get lost; and at the time limit, because n8n
 * itself comes late and with an old state. After a restart of n8n the next notice starts it again.
 */
export function startPolling(context: Context, wait: SuspendedWait, url: string): void {
	const known = knownWait(wait);
	if (waits.get(wait.id) !== known) {
		context.logger.warn(
			`Wait for Payment: ${waits.size} executions wait already, so this one is not re-checked; it continues when a webhook comes, or after its time limit.`,
		);
		return;
	}
	const poller = new Poller(context, wait, url, known);
	known.pingBy = (moment) => poller.pingBy(moment);
	poller.pingBy(clock.elapsed() + SOON_MS);
}

class Poller {
	private readonly startedAt = clock.elapsed();
	private nextAt = Infinity;
	private wasSuspended = false;
	/** How many pings in a row have read nothing, and how many of the last ones have reached nothing. */
	private unread = 0;
	private unreached = 0;

	constructor(
		private readonly context: Context,
		private readonly wait: SuspendedWait,
		private readonly url: string,
		private readonly known: KnownWait,
	) {}

	/** Sees to it that the next ping comes no later than a moment, nor than the time limit. */
	pingBy(moment: number): void {
		const { limitAt, lastAt } = this.known;
		const ends = [limitAt, lastAt].filter((end) => end > clock.elapsed());
		const at = Math.min(moment, ...ends);
		if (at >= this.nextAt) return;
		this.nextAt = at;
		void this.ping(at);
	}

	private async ping(at: number): Promise<void> {
		while (this.nextAt === at && waits.get(this.wait.id) === this.known) {
			const left = at - clock.elapsed();
			if (left > 0) {
				await clock.sleep(Math.min(left, LONGEST_SLEEP_MS));
				continue;
			}
			this.nextAt = Infinity;
			const answer = await pingSelf(this.context.helpers, this.url, this.wait.id);
			this.enter(answer);
			if (this.isPast(answer)) waits.delete(this.wait.id);
			else this.pingBy(clock.elapsed() + this.pauseAfter(answer));
			return;
		}
	}

	private enter(answer: PingAnswer): void {
		if (answer !== 'notSuspended' && answer !== 'unreachable') this.wasSuspended = true;
		this.unreached = answer === 'unreachable' ? this.unreached + 1 : 0;
		const isUnread = ['unreachable', 'unread', 'limited'].includes(answer);
		this.unread = isUnread ? this.unread + 1 : 0;
		if (this.unreached === 2) this.warn();
	}

	/** Whether the execution has gone on, or never will be suspended. */
	private isPast(answer: PingAnswer): boolean {
		if (answer !== 'notSuspended') return answer === 'over';
		return this.wasSuspended || clock.elapsed() > this.startedAt + SUSPENDED_WITHIN_MS;
	}

	private pauseAfter(answer: PingAnswer): number {
		const isLast = this.known.isLast();
		const [shortest, longest] = PAUSE_MS;
		const age = clock.elapsed() - this.startedAt;
		const pace = isLast ? shortest : clamp(age * PART_OF_AGE, shortest, longest);
		switch (answer) {
			case 'waiting':
				return isLast ? SOON_MS : pace;
			case 'limited': {
				// Many waits share the limit: rarer, and not all at once.
				const rarer = Math.min(longest, pace * 2 ** Math.min(this.unread, MOST_DOUBLINGS));
				return Math.max(RETRY_MS, (isLast ? pace : rarer) * clock.random());
			}
			case 'unfinished':
			case 'notSuspended':
				return SOON_MS;
			default:
				return Math.min(pace, RETRY_MS * 2 ** (this.unread - 1));
		}
	}

	private warn(): void {
		this.context.logger.warn(
			'Wait for Payment cannot reach this n8n at its own address, so it cannot re-check payments, and its time limit may be late. Check N8N_WEBHOOK_URL.',
			{ host: new URL(this.url).host },
		);
	}
}
