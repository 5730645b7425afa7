import { clock } from '../shared/clock';

/*
 * When the editor listens for a test event.
 *
 * Rests on (since n8n 2.30.0): n8n registers the test URL, calls `create` of the trigger, and registers the URL once
 * more. A webhook that arrives before that ends the listening too early (webhooks/test-webhooks).
 * If it stops: Test With Transaction sends its webhook half a second late, or the editor goes on listening.
 */

const REGISTERED_AFTER_MS = 500;

/** Resolves once the editor listens, if it is awaited after `create` has returned. */
export async function waitUntilEditorListens(): Promise<void> {
	await clock.sleep(REGISTERED_AFTER_MS);
}
