import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../../helpers/charge';
import { flood } from '../../helpers/extent';
import { products, useInbox } from '../../helpers/inbox';
import { isTaken, isTakenAtFirst, sendAsPlatform, type Sent } from '../../helpers/platform';

describe('Digital Sales Trigger: the platform gets 200 for each sale', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	const PAID = { triggerOn: ['paid'] };
	const statuses = (): unknown[] => inbox.items.map(({ payment_status: status }) => status);

	test.each([
		[8, 1],
		[2, 3],
	])(
		'beside %i abandoned carts a minute, each with a hash of its own, at %i triggers of one account',
		async (carts, triggers) => {
			const urls: string[] = [];
			while (urls.length < triggers) urls.push((await inbox.publish(PAID)).url);
			const sendToAll = async (body: object) =>
				await Promise.all(urls.map(async (url) => await sendAsPlatform(url, body)));
			const sales = await chargesAt(inbox.account.sandbox, flood(60));
			const leaving = Array.from({ length: carts * flood(30) }, async (_, nth) => {
				await clock.sleep((nth * 60_000) / carts);
				await sendToAll({ hash: `cart${nth}`, status: 'checkout_abandoned' });
			});

			const sent = await Promise.all(
				sales.map(async (hash, nth) => {
					await clock.sleep(300_000 + nth * 20_000);
					await inbox.account.sandbox.setStatus(hash, 'paid');
					return await sendToAll({ hash, status: 'paid' });
				}),
			);
			await Promise.all(leaving);

			expect(sent.flat().filter(isTaken)).toHaveLength(sales.length * triggers);
		},
		120_000,
	);

	test('at first, if each of six products has a trigger that gets all webhooks', async () => {
		const triggers = 6;
		const [perMinute, minutes] = [10, flood(3)];
		const hashes = await chargesAt(inbox.account.sandbox, perMinute * minutes);
		const [own = ''] = inbox.account.sandbox.transactions.map(({ product }) => product.hash);
		const urls: string[] = [];
		while (urls.length < triggers) {
			const product = urls.length === triggers - 1 ? own : `other${urls.length}`;
			urls.push((await inbox.publish({ ...PAID, ...products(product) })).url);
		}
		const sendToAll = async (body: object): Promise<Sent[]> =>
			await Promise.all(urls.map(async (url) => await sendAsPlatform(url, body)));

		const sent = await Promise.all(
			hashes.map(async (hash, nth) => {
				await clock.sleep((nth * 60_000) / perMinute);
				const opening = [0, 4_000, 12_000].map(async (ms) => {
					await clock.sleep(ms);
					return await sendToAll({ hash, status: 'waiting_payment', event: `event_${ms}` });
				});
				await clock.sleep(60_000);
				await inbox.account.sandbox.setStatus(hash, 'paid');
				return [await sendToAll({ hash, status: 'paid' }), ...(await Promise.all(opening))];
			}),
		);

		expect(sent.flat(2).filter((one) => !isTakenAtFirst(one))).toEqual([]);
		expect(inbox.items).toHaveLength(hashes.length);
	}, 120_000);

	test.each([
		[4_000, 3, flood(60), 5],
		[4_000, 1, flood(160), 8],
	])(
		'if reads take %i ms, and %i triggers of one account get %i sales, %i a second',
		async (ms, triggers, count, perSecond) => {
			const urls: string[] = [];
			while (urls.length < triggers) urls.push((await inbox.publish(PAID)).url);
			const sales = await chargesAt(inbox.account.sandbox, count);
			for (const hash of sales) await inbox.account.sandbox.setStatus(hash, 'paid');
			inbox.account.fault('read', { kind: 'delay', ms }, 'always');

			const sent = await Promise.all(
				sales.map(async (hash, nth) => {
					await clock.sleep((nth * 1_000) / perSecond);
					const body = { hash, status: 'paid' };
					return await Promise.all(urls.map(async (url) => await sendAsPlatform(url, body)));
				}),
			);

			expect(sent.flat().filter(isTaken)).toHaveLength(count * triggers);
		},
		120_000,
	);

	describe.each([
		[{ filters: { paymentMethods: ['pix'] } }, { payment_method: 'credit_card' }, 'refused'],
		[{ filters: { paymentMethods: ['pix'] } }, { payment_method: null }, 'waiting_payment'],
		[{ filters: { minimumAmount: '0,01' } }, { amount: null }, 'waiting_payment'],
	])('if a read does not match the filter yet: %j, %j, %s,', (filter, set, status) => {
		let hash: string;
		const pay = async (): Promise<void> => {
			inbox.account.sandbox.clearFaults();
			await inbox.account.sandbox.setStatus(hash, 'paid');
		};

		beforeEach(async () => {
			await inbox.publish({ ...PAID, ...filter });
			hash = await inbox.charge();
			await inbox.account.sandbox.setStatus(hash, status);
			inbox.account.fault('read', { kind: 'patchBody', set }, 'always');
		});

		test.each(['20 minutes before the payment', 'and lags by two seconds'])('%s', async (when) => {
			if (when.startsWith('20')) {
				await sendAsPlatform(inbox.trigger.url, { hash, status });
				await clock.sleep(20 * 60_000);
				await pay();
			} else setTimeout(() => void pay(), 2_000);

			await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });

			expect(statuses()).toEqual(['paid']);
		});
	});

	describe('if a webhook with a hash speaks of an abandoned cart,', () => {
		const OTHER = { triggerOn: ['other'], otherStatuses: 'checkout_abandoned' };

		test.each([
			[OTHER, 'checkout_abandoned', { event: 'checkout_abandoned' }],
			[OTHER, 'checkout_abandoned', { status: 'abandoned' }],
			[{ triggerOn: ['failed'] }, 'expired', { status: 'abandoned' }],
			[PAID, 'paid', { event: 'abandoned_cart_recovered', status: 'approved' }],
		])('%j, read as %s, webhook %j', async (form, read, webhook) => {
			await inbox.publish(form);
			const hash = await inbox.charge();
			await inbox.account.sandbox.setStatus(hash, read);

			await sendAsPlatform(inbox.trigger.url, { hash, ...webhook });

			expect(statuses()).toEqual([read]);
		});
	});
});
