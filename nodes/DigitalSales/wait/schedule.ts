import { clock } from '../shared/clock';

const MINUTE_MS = 60_000;

/** Minutes from one look at open payments to the next. The last number repeats. */
const BETWEEN_LOOKS = {
	/** For lost webhooks only, because a webhook wakes the execution. */
	webhookExpected: [5, 10, 15, 30, 60],
	/** Most customers pay within minutes. About 35 looks in 24 hours. */
	noWebhook: [1, 1, 1, 2, 3, 5, 8, 13, 20, 30, 60],
};
const LONGEST_BACKOFF_MINUTES = 60;
/** Spreads the looks of waits that began together, by less if every minute counts. */
const JITTER = { webhookExpected: 0.2, noWebhook: 0.1 };

export interface LookResult {
	/** How many looks were on time so far, including the present look. */
	looks: number;
	/** How many looks in a row have failed. */
	failures: number;
	/** Whether the look was early, because a webhook woke the execution. */
	isWoken: boolean;
	isWebhookExpected: boolean;
}

/** Milliseconds until the next look. n8n's own timer adds up to a minute to anything below one minute. */
export function pauseUntilNextLook(look: LookResult): number {
	const kind = look.isWebhookExpected ? 'webhookExpected' : 'noWebhook';
	const schedule = BETWEEN_LOOKS[kind];
	let minutes = schedule[look.looks - 1] ?? 60;
	// The service may not show yet what the webhook reports.
	if (look.isWoken) minutes = 1;
	if (look.failures > 0) minutes = Math.min(2 ** (look.failures - 1), LONGEST_BACKOFF_MINUTES);
	return minutes * MINUTE_MS * (1 + JITTER[kind] * clock.random());
}
