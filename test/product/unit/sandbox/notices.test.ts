import { startSandbox, type Fault, type Sandbox } from '../../../sandbox';
import { useTimeLapse } from '../../../support/timeLapse';
import {
	at,
	call,
	create,
	order,
	startReceiver,
	until,
	useSandbox,
	type Receiver,
} from './support';

useTimeLapse();

let receiver: Receiver;
beforeEach(async () => {
	receiver = await startReceiver();
});
afterEach(async () => await receiver.close());

/** A transaction that notifies the receiver. */
async function notifying(sandbox: Sandbox): Promise<string> {
	return await create(sandbox, { webhook_url: receiver.url });
}

describe('a notification', () => {
	const held = useSandbox({
		resendAfterSeconds: [5, 10, 20],
		clockScale: 1000,
		qrImage: 'absent',
	});

	test('is posted on payment, as an envelope', async () => {
		const hash = await notifying(held.sandbox);
		expect(receiver.notices).toEqual([]);
		const reports = await held.sandbox.pay(hash);
		expect(reports).toMatchObject([
			{
				hash,
				payment_status: 'paid',
				shape: 'envelope',
				attempt: 1,
				outcome: 'delivered',
				status: 200,
			},
		]);
		const [notice] = receiver.notices;
		expect(Object.keys(notice as object)).toEqual([
			'token',
			'event',
			'status',
			'method',
			'customer',
			'transaction',
			'offer',
			'items',
			'tracking',
		]);
		expect(notice).toMatchObject({
			event: 'transaction',
			status: 'paid',
			method: 'pix',
			transaction: { id: hash, status: 'waiting_payment', amount: '1990' },
		});
		const read = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(at(read.body, 'payment_status')).toBe('paid');
	});

	test('can be the transaction itself with a numeric id, or a summary', async () => {
		const hash = await notifying(held.sandbox);
		await held.sandbox.notify(hash, { shape: 'transaction' });
		await held.sandbox.notify(hash, { shape: 'summary' });
		const [flat, brief] = receiver.notices;
		const read = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(flat).toEqual({ ...(read.body as object), id: expect.any(Number) as unknown });
		expect(brief).toEqual({
			transaction_hash: hash,
			status: 'waiting_payment',
			amount: 1990,
			payment_method: 'pix',
			paid_at: null,
		});
	});

	test('follows every change of status, unknown ones included', async () => {
		const hash = await notifying(held.sandbox);
		await held.sandbox.pay(hash);
		await held.sandbox.setStatus(hash, 'something_new');
		expect(receiver.notices.map((notice) => at(notice, 'status'))).toEqual([
			'paid',
			'something_new',
		]);
		await expect(held.sandbox.setStatus('nothing', 'paid')).rejects.toThrow('nothing');
	});

	test('is sent again until it is answered 2xx, the same each time', async () => {
		receiver.answer = (nth, response) => response.writeHead(nth < 3 ? 503 : 204).end();
		const [first] = await held.sandbox.pay(await notifying(held.sandbox));
		expect(first).toMatchObject({ outcome: 'refused', status: 503 });
		await until(() => receiver.notices.length === 3 && held.sandbox.deliveries.length === 3);
		expect(receiver.notices[2]).toEqual(receiver.notices[0]);
		expect(held.sandbox.deliveries.map(({ attempt, status }) => [attempt, status])).toEqual([
			[1, 503],
			[2, 503],
			[3, 204],
		]);
	});

	test('is given up after the last attempt of the schedule', async () => {
		receiver.answer = (_nth, response) => response.writeHead(500).end();
		await held.sandbox.pay(await notifying(held.sandbox));
		await until(() => held.sandbox.deliveries.length === 4);
		expect(held.sandbox.deliveries[3]?.nextAttemptAt).toBeNull();
	});

	test('is not sent again by hand, nor after a reset', async () => {
		receiver.answer = (_nth, response) => response.writeHead(500).end();
		const hash = await notifying(held.sandbox);
		expect((await held.sandbox.notify(hash)).nextAttemptAt).toBeNull();
		await held.sandbox.pay(hash);
		held.sandbox.reset();
		await new Promise((resolve) => setTimeout(resolve, 60));
		expect(receiver.notices).toHaveLength(2);
		expect(held.sandbox.deliveries).toEqual([]);
	});

	test.each([
		'https://n8n.example.test/hook',
		'http://192.0.2.1/hook',
		'http://127.0.0.1.evil.test/',
	])('never leaves this machine (%s)', async (address) => {
		const hash = await create(held.sandbox, { webhook_url: address });
		expect(await held.sandbox.pay(hash)).toMatchObject([
			{ outcome: 'undeliverable', error: 'Only loopback addresses', nextAttemptAt: null },
		]);
	});

	test('has nowhere to go without an address', async () => {
		const hash = await create(held.sandbox);
		expect(await held.sandbox.pay(hash)).toEqual([]);
		expect(await held.sandbox.notify(hash)).toMatchObject({ outcome: 'undeliverable' });
	});

	test('reports a receiver that cannot be reached', async () => {
		const hash = await create(held.sandbox, { webhook_url: 'http://127.0.0.1:9/hook' });
		const [report] = await held.sandbox.pay(hash);
		expect(report).toMatchObject({ outcome: 'failed', status: null });
	});
});

test('a receiver that does not answer is given up on in time', async () => {
	const sandbox = await startSandbox({ deliveryTimeoutMs: 50, qrImage: 'absent' });
	receiver.answer = (nth, response) => {
		if (nth > 1) response.end();
		else setTimeout(() => response.end(), 300);
	};
	const [report] = await sandbox.pay(await notifying(sandbox));
	expect(report).toMatchObject({ outcome: 'timeout', status: null });
	await sandbox.close();
});

describe('notification faults', () => {
	const held = useSandbox({ qrImage: 'absent' });
	const struck = async (fault: Fault): Promise<string> => {
		held.sandbox.addFault(fault);
		return await notifying(held.sandbox);
	};

	test.each([false, true])('a notice can come twice (at the same time: %s)', async (together) => {
		const hash = await struck({ kind: 'duplicateNotice', together });
		expect(await held.sandbox.pay(hash)).toHaveLength(2);
		expect(receiver.notices[1]).toEqual(receiver.notices[0]);
		await held.sandbox.setStatus(hash, 'refunded');
		expect(receiver.notices).toHaveLength(3);
	});

	test('a notice can get lost', async () => {
		const hash = await struck({ kind: 'lostNotice' });
		expect(await held.sandbox.pay(hash)).toMatchObject([{ outcome: 'lost' }]);
		expect(receiver.notices).toEqual([]);
		const read = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(at(read.body, 'payment_status')).toBe('paid');
	});

	test('a notice can come before the create call answers, even before it can be read', async () => {
		held.sandbox.addFault({ kind: 'earlyNotice', status: 'paid', hidden: true });
		const seen: number[] = [];
		receiver.answer = (_nth, response, notice) => {
			const hash = String(at(notice, 'transaction', 'id'));
			void call(held.sandbox, 'GET', `/transactions/${hash}`).then(({ status }) => {
				seen.push(status);
				response.end();
			});
		};
		const changes = { webhook_url: receiver.url };
		const created = await call(held.sandbox, 'POST', '/transactions', order(held.sandbox, changes));
		expect(seen).toEqual([404]);
		expect(at(created.body, 'payment_status')).toBe('waiting_payment');
		const hash = String(at(created.body, 'hash'));
		const read = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(at(read.body, 'payment_status')).toBe('paid');
	});
});
