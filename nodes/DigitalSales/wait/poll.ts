import clamp from 'lodash/clamp';
import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { REPLIES } from '../notice/reply';
import { clock } from '../shared/clock';
import { isJsonObject } from '../shared/json';
import type { SuspendedWait } from './storedWait';
import { knownWait, waits, type KnownWait } from './knownWait';

/** By then the execution has mostly been stored; the first ping makes up for a notice that came before. */
const SOON_MS = 1_500;
/** How long n8n may take to suspend an execution. */
const SUSPENDED_WITHIN_MS = 60_000;
/** After a ping that could not read, or reached nothing; the more of them in a row, the longer. */
export const RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 480_000;
/**
 * Between two looks a part of the time that has passed, within these bounds: most pay within minutes,
 * and a day costs about a hundred reads.
 */
const PART_OF_AGE = 1 / 20;
const BETWEEN_PINGS_MS = [60_000, 3_600_000] as const;
/** A timer of more than 24 days would fire at once. */
const LONGEST_SLEEP_MS = 60_000;
/** Within this time a check that was pinged for is answered. */
export const PING_ANSWER_WITHIN_MS = 20_000;
const PING_TIMEOUT_MS = 25_000;
const OWN_FIELD = 'pingedWait';

type Context = Pick<IExecuteFunctions | IWebhookFunctions, 'helpers' | 'logger'>;

/**
 * Pings the address of a suspended execution: a moment after it was suspended, because an earlier
 * notice was rejected; then ever more rarely, because notices get lost; and at the time limit, because n8n
 * itself comes late and with an old state. After a restart of n8n the next notice starts it again.
 */
export function startPolling(context: Context, wait: SuspendedWait, url: string): void {
	const known = knownWait(wait);
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
		const { limitAt, goesOnAt } = this.known;
		const ends = [limitAt, goesOnAt].filter((end) => end > clock.elapsed());
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
			const isGone = answer === 'gone';
			if (isGone && (this.wasSuspended || at > this.startedAt + SUSPENDED_WITHIN_MS)) {
				waits.delete(this.wait.id);
			} else this.pingBy(clock.elapsed() + this.pauseAfter(answer));
			return;
		}
	}

	private pauseAfter(answer: PingAnswer): number {
		this.unreached = answer === 'unreachable' ? this.unreached + 1 : 0;
		if (this.unreached === 2) this.warn();
		// Not suspended yet.
		if (answer === 'gone') return SOON_MS;
		if (answer !== 'unreachable') this.wasSuspended = true;
		const [shortest, longest] = BETWEEN_PINGS_MS;
		const isAfterLimit = this.known.isLimitOver();
		const age = clock.elapsed() - this.startedAt;
		this.unread = answer === 'unread' || answer === 'unreachable' ? this.unread + 1 : 0;
		if (answer === 'unfinished' || (answer === 'waiting' && isAfterLimit)) return SOON_MS;
		if (answer === 'waiting') return clamp(age * PART_OF_AGE, shortest, longest);
		// Many waits share the service and its limit: not all come again at once.
		const most = isAfterLimit ? shortest : LONGEST_RETRY_MS;
		const retryMs = Math.min(most, RETRY_MS * 2 ** this.unread) * clock.random();
		return Math.max(RETRY_MS, retryMs);
	}

	private warn(): void {
		this.context.logger.warn(
			'Wait for Payment cannot reach this n8n at its own address, so it cannot re-check payments, and its time limit may be late. Check N8N_WEBHOOK_URL.',
			{ host: new URL(this.url).host },
		);
	}
}

/**
 * Of a suspended execution `waiting`, or why its check is not done; `gone`: not suspended yet, or no
 * longer; `unreachable`: neither this package nor n8n answered.
 */
export type PingAnswer = 'waiting' | 'unfinished' | 'unread' | 'gone' | 'unreachable';

const responseSchema = z.object({
	statusCode: z.number(),
	headers: z.object({ location: z.string().default('') }),
	body: z.string(),
});
/** For an execution that waits in a form, n8n answers with a redirect to it. */
const WAITING_FORM = '/form-waiting/';
/** What n8n says of an execution that runs, has ended, was deleted, or waits in another node. */
const NOT_HERE =
	/running|finished|does not exist|does not contain a waiting webhook|Could not find node/;
/** What this package says (`notice/reply.ts`), or n8n itself. */
const wordsSchema = z.object({
	received: z.boolean().optional(),
	waiting: z.boolean().optional(),
	reason: z.unknown(),
	message: z.string().optional(),
});

/**
 * Calls the resume address of a suspended execution, so that it reads its payments again. The helper
 * keeps working after the execution has ended.
 *
 * @internal
 */
export async function pingSelf(
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest'>,
	url: string,
	waitId: string,
): Promise<PingAnswer> {
	try {
		const response: unknown = await helpers.httpRequest({
			method: 'POST',
			url,
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ [OWN_FIELD]: waitId }),
			encoding: 'text',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: PING_TIMEOUT_MS,
		});
		return toPingAnswer(responseSchema.parse(response));
	} catch {
		return 'unreachable';
	}
}

/** The wait that one of our own pings is for; undefined for a notice of the service. */
export function pingedWait(body: unknown): string | undefined {
	const wait = isJsonObject(body) ? body[OWN_FIELD] : undefined;
	return typeof wait === 'string' ? wait : undefined;
}

/**
 * Only what this package and n8n themselves say of an execution is believed: a proxy that answers for
 * an n8n that restarts must not end the polling.
 */
function toPingAnswer({ statusCode, headers, body }: z.output<typeof responseSchema>): PingAnswer {
	if (statusCode === 307 && headers.location.includes(WAITING_FORM)) return 'gone';
	// n8n says nothing where the execution goes on, and the next time that it is not suspended.
	if (statusCode === 200 && body === '') return 'unread';
	const { received, waiting, reason, message = '' } = wordsSchema.parse(JSON.parse(body));
	if (received === undefined) {
		return [404, 409].includes(statusCode) && NOT_HERE.test(message) ? 'gone' : 'unreachable';
	}
	if (waiting) return 'waiting';
	if (reason === REPLIES.replaced.body.reason) return 'gone';
	return reason === REPLIES.inFlight.body.reason ? 'unfinished' : 'unread';
}
