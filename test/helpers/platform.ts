import { groupOf } from '../../nodes/DigitalSales/domain/paymentStatus';
import { clock } from '../../nodes/DigitalSales/shared/clock';
import { sendRequest } from './http';

/** How long a platform waits before it sends a webhook again: four tries within 12.5 minutes. */
const PAUSES_MS = [30_000, 120_000, 600_000];

/** The answers that the platform got for a webhook, until the first 200. */
export type Sent = number[];

export const isTakenAtFirst = ([status]: Sent): boolean => status === 200;
export const isTaken = (statuses: Sent): boolean => statuses.at(-1) === 200;

/** Whether a form with this Trigger On wants the status. */
export const isWanted = (triggerOn: string, status: string): boolean =>
	['any', groupOf(status)].some((one) => one && triggerOn.split(', ').includes(one));

/** Posts JSON, and returns the status of the answer. */
export async function post(url: string, body: unknown): Promise<number> {
	const headers = { 'content-type': 'application/json' };
	return (await sendRequest(url, { headers, body: JSON.stringify(body) })).status;
}

/** Sends a webhook as a platform does: up to four times, until the answer is 200. */
export async function sendAsPlatform(url: string, body: unknown): Promise<Sent> {
	const statuses = [await post(url, body)];
	for (const ms of PAUSES_MS) {
		if (isTaken(statuses)) break;
		await clock.sleep(ms);
		statuses.push(await post(url, body));
	}
	return statuses;
}
