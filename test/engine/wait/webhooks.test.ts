import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { received, useWaitingRoom } from '../../helpers/waiting';

const json = { 'content-type': 'application/json' };

describe('Transaction > Wait for Payment: webhooks to the waiting execution', () => {
	const room = useWaitingRoom();

	test.each([
		['an empty body', ''],
		['a list', '[1]'],
		['an object with a prototype', '{"__proto__":{"hash":"x"}}'],
		['a greeting', '{"message":"hello"}'],
		['a sale without a hash', '{"transaction":"PP00000000","status":"Paid"}'],
	])('of unknown shape, %s, wakes the execution, and costs one read', async (_name, body) => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		const reads = room.reads();

		const open = await parked.send({ headers: json, body });
		expect([open.answer.status, open.outcome?.status]).toEqual([200, 'waiting']);
		expect(room.reads()).toBe(reads + 1);
		await room.setStatus([hash]);
		const { outcome } = await parked.send({ headers: json, body });
		expect(received(outcome)).toMatchObject([{ hash, paid: true }]);
	});

	test('more than any webhook wakes nothing', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		const reads = room.reads();
		const body = `{"hash":"x","fill":"${'x'.repeat(300_000)}"}`;

		const { answer, outcome } = await parked.send({ headers: json, body });
		expect([answer.status, outcome, room.reads()]).toEqual([413, undefined, reads]);
	});

	test.each(['waiting_payment', 'pending', 'authorized'])(
		'a webhook that claims %s says nothing new: it is answered 200, and wakes nothing',
		async (status) => {
			const hash = await room.charge();
			const parked = await room.park([hash]);
			const reads = room.reads();

			const { answer, outcome } = await parked.resumeByWebhook({ hash, status });

			expect(answer).toMatchObject({ status: 200, json: { received: true, started: false } });
			expect(outcome).toBeUndefined();
			expect(room.reads()).toBe(reads);
		},
	);

	test.each(['paid', 'refused', 'chargeback', 'never_heard_of', undefined])(
		'a webhook that claims %s wakes the execution, but only the read counts',
		async (status) => {
			const hash = await room.charge();
			const parked = await room.park([hash]);

			const forged = await parked.resumeByWebhook({ hash, status });
			await room.setStatus([hash], 'expired');
			const { answer, outcome } = await parked.resumeByWebhook({ hash, status });

			expect([forged.answer.status, forged.outcome?.status]).toEqual([200, 'waiting']);
			expect([answer.status, outcome?.status]).toEqual([200, 'waiting']);
			expect(received(await parked.finished)).toMatchObject([
				{ hash, paid: false, payment_status: 'expired' },
			]);
		},
	);

	test('a webhook about another charge of the execution wakes it, too', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await room.setStatus([hash]);

		const { answer, outcome } = await parked.resumeByWebhook({ hash: 'other1', status: 'paid' });

		expect(answer.status).toBe(200);
		expect(received(outcome)).toMatchObject([{ hash, paid: true }]);
	});

	test('many webhooks at once wake the execution once, and n8n rejects the others', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await room.setStatus([hash]);
		room.account.fault('read', { kind: 'delay', ms: 300 }, 'always');
		const reads = room.reads();

		const webhooks = await Promise.all(
			Array.from({ length: 5 }, async () => await parked.resumeByWebhook({ hash, status: 'paid' })),
		);

		const statuses = webhooks.map(({ answer }) => answer.status);
		expect(statuses.filter((status) => status === 200)).toHaveLength(1);
		expect(statuses.every((status) => [200, 409, 500].includes(status))).toBe(true);
		expect(received(await parked.finished)).toMatchObject([{ paid: true }]);
		expect(room.reads() - reads).toBe(1);
	});

	test('a webhook is not answered 200 if n8n cannot resume the execution, and the next webhook resumes it', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await room.setStatus([hash]);
		parked.failResumptions(1);

		const refused = await parked.resumeByWebhook({ hash, status: 'paid' });
		const taken = await parked.resumeByWebhook({ hash, status: 'paid' });
		const late = await parked.resumeByWebhook({ hash, status: 'paid' });

		expect([refused, taken, late].map(({ answer }) => answer.status)).toEqual([500, 200, 409]);
		expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
	});

	test('a webhook just before n8n’s timer resumes the execution only once', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await clock.sleep(parked.waitTill - clock.now() - 2_000);
		await room.setStatus([hash]);

		await parked.resumeByWebhook({ hash, status: 'paid' });
		await clock.sleep(120_000);

		expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		expect(parked.legs).toBe(2);
	});
});
