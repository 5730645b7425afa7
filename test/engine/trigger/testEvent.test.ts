import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { PublishedTrigger } from '../../helpers/engine/trigger';
import { offers, products, useInbox } from '../../helpers/inbox';

describe('Digital Sales Trigger: Test With Transaction', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, 'paid');
	});

	const formWith = (testTransaction: unknown, more: INodeParameters = {}): INodeParameters => ({
		...({ testTransaction } as INodeParameters),
		...more,
	});
	/** Presses Execute step; a test event is sent soon after it. */
	const listen = async (testTransaction: unknown, more?: INodeParameters) =>
		await inbox.publish(formWith(testTransaction, more), { mode: 'test' });
	const waited = async (ms = 2_000): Promise<void> => {
		await clock.sleep(ms);
		await inbox.trigger.settled();
	};
	const isListening = async (): Promise<boolean> =>
		(await inbox.trigger.post({ hash: 'nosuch1' })).text.includes('unknown transaction');
	/** Whether a real sale starts the workflow, as the first. */
	const takesSale = async (): Promise<boolean> => {
		expect(await inbox.post(hash, 'paid')).toBe(200);
		return inbox.items.length === 1 && inbox.items[0]?.hash === hash;
	};

	test('the transaction arrives once, like a new sale, after n8n has registered the test URL for the second time', async () => {
		await listen(` ${hash} `, { triggerOn: ['any'], simplify: false });
		await waited(100);
		expect(inbox.trigger.begun).toEqual([]);
		expect(await isListening()).toBe(true);

		await waited();
		expect(inbox.items).toMatchObject([{ hash, customer: { email: 'maria@example.test' } }]);
		expect(await isListening()).toBe(false);
		await waited(120_000);
		expect(inbox.trigger.begun).toHaveLength(1);
	});

	test('the transaction arrives each time the step is executed, and the real sale still starts the workflow', async () => {
		await listen(hash);
		await waited();
		await inbox.trigger.activate();
		inbox.trigger.listen();
		await waited();
		expect(inbox.items).toMatchObject([{ hash, amount_reais: 19.9 }, { hash }]);

		await inbox.publish();
		expect(await takesSale()).toBe(true);
	});

	test.each<['test' | 'production', unknown]>([
		['test', ' '],
		['test', null],
		['production', 'the paid hash'],
		['production', [1]],
		['production', "={{ $('Nobody').item.json.hash }}"],
	])('nothing is sent in %s with %j', async (mode, given) => {
		await inbox.publish(formWith(given === 'the paid hash' ? hash : given), { mode });
		await waited();

		expect([inbox.trigger.begun, inbox.reads]).toEqual([[], 0]);
		expect(await takesSale()).toBe(true);
	});

	describe('an error says what to correct, within 30 seconds, and nothing is sent', () => {
		/** Returns the error that the editor would show. The trigger keeps listening, so that a webhook would be seen. */
		const failing = async (testTransaction: unknown, more?: INodeParameters): Promise<unknown> => {
			const trigger = await PublishedTrigger.prepare({
				credentials: inbox.account.credentials,
				parameters: formWith(testTransaction, more),
				mode: 'test',
			});
			inbox.add(trigger).listen();
			return await trigger.activate().catch((error: unknown) => error);
		};

		const FIELD = 'Test With Transaction';
		const NO_HASH = `${FIELD} is not the hash of a transaction.`;
		const EXCLUDED = `${FIELD} names a transaction that does not start this workflow. The amount of the transaction is R$ 19,90, which does not match Filters > Minimum Amount in Reais. Enter another transaction, or change the form.`;
		const NOT_READ = `${FIELD} names a transaction that could not be read. `;
		const least = (minimumAmount: string) => ({ filters: { minimumAmount } });
		const DOWN: Fault = { kind: 'status', status: 503 };
		const SILENT: Fault = { kind: 'delay', ms: 60_000 };
		const LIMITED: Fault = { kind: 'retryAfter', seconds: 250 };

		test.each<
			[string, { given?: unknown; form?: INodeParameters; fault?: Fault }, string[], boolean?]
		>([
			['an invalid hash', { given: '..' }, [NO_HASH], false],
			['a list', { given: [1] }, [NO_HASH], false],
			['an unknown hash', { given: 'nosuch1' }, [NOT_READ, '(404). ', 'Check the hash.']],
			['an excluded transaction', { form: least('50') }, [EXCLUDED]],
			['a form that cannot be read', { form: least('abc') }, ['Filters > Minimum Amount'], false],
			['a platform that is down', { fault: DOWN }, [NOT_READ, 'Try again later']],
			['a platform that is silent', { fault: SILENT }, [NOT_READ, 'Try again later']],
			['an account at its rate limit', { fault: LIMITED }, [NOT_READ, 'Wait a while']],
		])('for %s', async (_name, { given = hash, form, fault }, texts, isRead = true) => {
			if (fault) inbox.account.fault('read', fault, 'always');
			const startedAt = clock.elapsed();

			for (let nth = 0; nth < (fault === LIMITED ? 2 : 1); nth++) {
				const error = await failing(given, form);
				expect(error).toMatchObject({ name: 'NodeOperationError' });
				for (const text of texts) expect(String(error)).toContain(text);
			}
			expect(clock.elapsed() - startedAt).toBeLessThan(30_000);
			expect(inbox.reads > 0).toBe(isRead);
			await waited(120_000);
			expect(inbox.trigger.begun).toEqual([]);
		});

		const methods = (...paymentMethods: string[]) => ({ filters: { paymentMethods } });

		test.each<[INodeParameters, IDataObject, string]>([
			[{ triggerOn: ['failed'] }, {}, 'status is paid, which does not match Trigger On'],
			[{}, { payment_status: null }, 'status is not stated'],
			[
				methods('boleto'),
				{},
				'payment method is pix, which does not match Filters > Payment Methods',
			],
			[methods('pix'), { payment_method: null }, 'payment method is not stated'],
			[products('p1'), { product: { hash: 'p3' } }, 'product is p3, which does not match Products'],
			[products('p1'), { product: null }, 'product is not stated'],
			[
				offers('o1'),
				{ offer: { hash: 'o3' } },
				'offer is o3, which does not match Filters > Offers',
			],
			[least('0'), { amount: null }, 'amount is not stated in cents'],
			[least('0'), { amount: '19.90' }, 'amount is not stated in cents'],
		])('for a transaction that %j excludes, read with %j', async (form, set, reason) => {
			inbox.account.fault('read', { kind: 'patchBody', set }, 'always');

			const error = await failing(hash, { triggerOn: ['paid'], ...form });
			expect(String(error)).toContain(
				`The ${reason.split(' is ')[0]} of the transaction is ${reason.split(' is ')[1]}`,
			);
		});
	});

	test.each(['the address of n8n is out of reach', 'the platform was down a moment later'])(
		'the editor goes on listening if the transaction does not arrive, because %s',
		async (why) => {
			await listen(hash);
			const isOutOfReach = why.startsWith('the address');
			if (isOutOfReach) inbox.trigger.stopListening();
			else inbox.account.fault('read', { kind: 'status', status: 503 }, 'always');
			await waited(20_000);
			if (isOutOfReach) inbox.trigger.listen();
			inbox.account.sandbox.clearFaults();

			expect([inbox.trigger.begun, await isListening()]).toEqual([[], true]);
			const warned = inbox.trigger.logs.filter(({ level }) => level === 'warn');
			expect(warned.map(({ text }) => text).join()).toContain('did not reach the trigger');
			expect(await takesSale()).toBe(true);
		},
	);
});
