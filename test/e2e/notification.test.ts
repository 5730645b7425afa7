import { postJson, sendRequest } from '../helpers/http';
import { chargesAt } from '../helpers/charge';
import { until } from '../helpers/until';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import { addressOf, Downstream, publish, trigger } from '../helpers/e2e/workflows';

const START_MS = 15 * 60_000;
/** More at once than n8n accepts. */
const FLOOD = 100;
const RESEND_MS = 3_000;

const PUBLISHED = ['door', 'strangers', 'identical', 'distinct', 'restart'];

describe('Digital Sales Trigger under attack, races and loss', () => {
	let n8n: N8n;
	let downstream: Downstream;

	beforeAll(async () => {
		n8n = await startN8n('e2e-notification', { env: WITHOUT_EDITOR });
		downstream = await Downstream.open();
		// Published before the floods, during which n8n is sometimes "not ready".
		for (const name of PUBLISHED) await publish(n8n, name, [trigger(name), downstream.node]);
	}, START_MS);
	beforeEach(() => {
		n8n.sandbox.reset();
		downstream.clear();
	});
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
	});

	const post = async (url: string, hash: string): Promise<number> =>
		(await postJson(url, { hash, payment_status: 'paid' })).status;
	const paid = async (count: number): Promise<string[]> => {
		const hashes = await chargesAt(n8n.sandbox, count);
		for (const hash of hashes) await n8n.sandbox.setStatus(hash, 'paid');
		return hashes;
	};
	const isBusy = (reply: string): boolean => reply.includes('too many webhooks at once');

	test('forms and JSON in forms start the workflow, and probes, pings and webhooks without a hash do not', async () => {
		const url = addressOf(n8n, 'door');
		const form = { 'content-type': 'application/x-www-form-urlencoded' };
		const sale = async (bodyOf: (hash: string) => string | FormData): Promise<void> => {
			const [hash = ''] = await paid(1);
			const body = bodyOf(hash);
			const headers = typeof body === 'string' ? form : undefined;
			expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
		};
		for (const method of ['GET', 'HEAD']) {
			expect((await sendRequest(url, { method })).status).toBe(200);
		}
		expect((await sendRequest(url, { method: 'GET' })).text).toContain('listens here');
		for (const body of ['', '{}', '{"event":"ping"}']) {
			const headers = { 'content-type': 'application/json' };
			expect((await sendRequest(url, { headers, body })).status).toBe(200);
		}
		expect((await postJson(url, { transaction: 'PP00000000', status: 'Paid' })).status).toBe(400);
		expect(await downstream.reaches(0)).toBe(0);

		await sale((hash) => JSON.stringify({ hash, note: 'a=b&c=%20+' }));
		await sale((hash) => `transaction[hash]=${hash}&status=paid`);
		await sale((hash) => `payload=${encodeURIComponent(JSON.stringify({ hash }))}`);
		await sale((hash) => {
			const parts = new FormData();
			parts.set('data[hash]', hash);
			return parts;
		});
		expect(await downstream.reaches(4)).toBe(4);
	});

	test('a flood of unknown hashes leaves room for sales that this n8n knows', async () => {
		const url = addressOf(n8n, 'strangers');
		const hashes = await paid(5);
		for (const hash of hashes) await n8n.sandbox.setStatus(hash, 'waiting_payment');
		for (const hash of hashes) {
			await postJson(url, { hash, status: 'waiting_payment' });
			await n8n.sandbox.setStatus(hash, 'paid');
		}
		const replies: string[] = [];
		const flood = Array.from({ length: FLOOD }, async (_, nth) => {
			const reply = await postJson(url, { hash: `nosuch${nth}`, status: 'paid' });
			replies.push(reply.text);
			return reply.status;
		});
		await until('the flood has no room left', () => replies.some(isBusy), { withinMs: 60_000 });
		const sales = hashes.map(async (hash) => {
			// On a slow machine, n8n itself may refuse a sale, or the read may take too long.
			const isTaken = async () => (await post(url, hash)) === 200;
			await until('the sale is taken', isTaken, { withinMs: 120_000, everyMs: RESEND_MS });
		});
		await Promise.all(sales);

		expect(new Set(await Promise.all(flood))).toEqual(new Set([503]));
		expect(await downstream.reaches(5)).toBe(5);
	}, 240_000);

	test.each([
		['identical', 1],
		['distinct', FLOOD],
	])(
		`${FLOOD} %s notices at the same moment start the workflow once for each sale`,
		async (name, sales) => {
			const url = addressOf(n8n, name);
			const hashes = await paid(sales);

			await Promise.all(
				Array.from({ length: FLOOD }, async (_, nth) => {
					const hash = hashes[nth % sales] ?? '';
					const status = await post(url, hash);
					// Repeats a notice that was not accepted, as a platform does.
					const isTaken = async () => status === 200 || (await post(url, hash)) === 200;
					await until('it is taken', isTaken, { withinMs: 240_000, everyMs: RESEND_MS });
				}),
			);

			expect(await downstream.reaches(sales)).toBe(sales);
			expect(new Set(downstream.reports.map(({ hash }) => hash))).toEqual(new Set(hashes));
		},
		300_000,
	);

	// Last, because it takes n8n down.
	test('the workflow starts once if n8n restarts between two identical notices', async () => {
		const url = addressOf(n8n, 'restart');
		const hashes = await paid(20);
		const notify = async (): Promise<void> => {
			const taken = hashes.map((hash) => {
				const isTaken = async () => (await post(url, hash)) === 200;
				return until('it is taken', isTaken, { withinMs: 150_000, everyMs: RESEND_MS });
			});
			await Promise.all(taken);
		};
		await notify();
		expect(await downstream.reaches(hashes.length)).toBe(hashes.length);

		await n8n.restart();
		await notify();

		expect(await downstream.reaches(hashes.length)).toBe(hashes.length);
	}, 400_000);
});
