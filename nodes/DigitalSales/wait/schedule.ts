import { clock } from '../shared';

/* When the next look is. */

const MINUTE_MS = 60_000;
const LONGEST_PAUSE_MINUTES = 60;
/** Short, because a look often fails only for want of a permit. */
const LONGEST_BACKOFF_MINUTES = 16;

/** A pause is multiplied by a random factor, so that waits that began together do not look together. */
const NARROW = { min: 1, max: 1.1 };
/** A thousand waits that look within the same two minutes keep n8n from answering webhooks. */
const WIDE = { min: 0.4, max: 1.1 };

const SCHEDULES = {
	/** Finds payments whose webhook was lost. */
	webhookExpected: { minutes: [5, 10, 15, 30], range: WIDE },
	/** Most customers pay within minutes. */
	noWebhook: { minutes: [1, 1, 1, 2, 3, 5, 8, 13, 20, 30], range: NARROW },
};

/** In milliseconds. n8n checks its timers once a minute, so a shorter pause may last a minute. */
export function pauseAfter(looks: number, isWebhookExpected: boolean): number {
	const { minutes, range } = isWebhookExpected ? SCHEDULES.webhookExpected : SCHEDULES.noWebhook;

	return randomPause(minutes[looks - 1] ?? LONGEST_PAUSE_MINUTES, range);
}

/** In milliseconds, after so many failed looks. */
export function backoffAfter(failures: number): number {
	return randomPause(Math.min(2 ** (failures - 1), LONGEST_BACKOFF_MINUTES), NARROW);
}

function randomPause(minutes: number, { min, max }: typeof NARROW): number {
	const factor = min + (max - min) * clock.random();

	return minutes * MINUTE_MS * factor;
}
