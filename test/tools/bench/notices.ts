import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import mapValues from 'lodash/mapValues';
import { eachLimit } from '../../../nodes/DigitalSales/shared/tasks';
import { END, type NodeSketch, publish, trigger } from '../../helpers/e2e/workflows';
import type { N8n } from '../../helpers/n8n/n8n';
import { until } from '../../helpers/until';
import { inTurn, type Row, row } from './measure';
import { type Account, leanPlatform, openAccount, post } from './sides';

const COUNT = 60;
const SENT_AT_ONCE = 20;
const ROUNDS = 3;
/** A trigger that does nothing. */
const FLOOR: NodeSketch = { name: 'Floor', type: 'CUSTOM.floorTrigger', webhookId: 'bench' };

/** Notices of paid sales, and of a known sale. */
export async function notices(n8n: N8n): Promise<Row[]> {
	const account = await openAccount(n8n, await leanPlatform(n8n.sandbox, 5));
	const form = { triggerOn: ['paid'], simplify: false };
	const ours = await flood(account, 'ours/digital-sales', [trigger('ours', form)]);
	const floor = await flood(account, 'bench/floor', [FLOOR]);

	const sales = (): string[] => Array.from({ length: COUNT }, () => randomUUID());
	const sell = mapValues({ ours, floor }, (send) => async () => await send(sales(), COUNT));
	const sold = await inTurn(n8n, sell, ROUNDS);
	const known = randomUUID();
	const again = Array<string>(COUNT).fill(known);
	for (const send of [ours, floor]) await send([known], 1);
	const repeat = mapValues({ ours, floor }, (send) => async () => await send(again, 0));
	const repeated = await inTurn(n8n, repeat, ROUNDS);

	const what = `${COUNT} notices of as many sales`;
	return [
		row(what, sold.ms, 1.25),
		row(`CPU time for ${what}`, sold.cpuMs, 1.25),
		row(`CPU time for ${COUNT} notices of a known sale`, repeated.cpuMs, 1.1),
	];
}

/**
 * Publishes a chain of nodes.
 *
 * @returns a function that sends it notices, and returns the milliseconds from the first one to the end of the last
 * execution by n8n's own record
 */
async function flood(account: Account, address: string, nodes: NodeSketch[]) {
	const { id } = await publish(account, address, [...nodes, END]);
	const url = `${account.url}/webhook/${address}`;
	return async (sent: string[], expected: number): Promise<number> => {
		const start = new Date();
		const ended = async () =>
			(await account.rest.executions(id, start)).filter(({ status }) => status === 'success');

		await eachLimit(sent, SENT_AT_ONCE, async (hash) => {
			await post(url, { event: 'transaction', hash, payment_status: 'paid' });
		});
		const isEnough = async (): Promise<boolean> => (await ended()).length >= expected;
		await until(`${expected} executions`, isEnough, { withinMs: 60_000, everyMs: 1_000 });
		// Another execution would still come.
		await pause(1_000);

		const ends = (await ended()).map(({ stoppedAt }) => Date.parse(stoppedAt ?? ''));
		if (ends.length !== expected) throw new Error(`Not ${expected} executions.`);
		return Math.max(...ends) - start.getTime();
	};
}
