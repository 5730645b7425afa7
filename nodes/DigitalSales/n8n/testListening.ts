import { clock } from '../shared';

/*
 * Since n8n 2.30.0, n8n registers the test URL before and after `create`. A webhook in between is used, but the editor
 * goes on listening. If that changes, the pause is useless, or too short.
 */

const REGISTERED_AFTER_MS = 500;

/** Must not be awaited in `create`, because the editor listens only after `create`. */
export async function pauseBeforeTestWebhook(): Promise<void> {
	await clock.sleep(REGISTERED_AFTER_MS);
}
