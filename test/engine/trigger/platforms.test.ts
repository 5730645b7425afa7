import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../../helpers/charge';
import { products, useInbox } from '../../helpers/inbox';
import { isTaken, sendAsPlatform, type Sent } from '../../helpers/platform';

describe('Digital Sales Trigger: a sale reaches the workflow, and its platform gets 200,', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	const PAID = { triggerOn: ['paid'] };

	test.each([4_000, 5_500])('if the service answers each read after %i ms', async (ms) => {
		await inbox.publish(PAID);
		const sales = await chargesAt(inbox.account.sandbox, 10);
		inbox.account.fault('read', { kind: 'delay', ms }, 'always');

		const sent: Sent[] = await Promise.all(
			sales.map(async (hash, nth) => {
				await clock.sleep(nth * 12_000);
				await inbox.account.sandbox.setStatus(hash, 'paid');
				return await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });
			}),
		);

		expect(sent.filter(isTaken)).toHaveLength(10);
	});

	test('if the platform waits as long as Retry-After says, and reads lag by a minute', async () => {
		await inbox.publish(PAID);
		const hash = await inbox.charge();
		setTimeout(() => void inbox.account.sandbox.setStatus(hash, 'paid'), 60_000);

		for (let tries = 0; tries < 4; tries++) {
			const { status, headers } = await inbox.trigger.post({ hash, status: 'paid' });
			if (status === 200) break;
			await clock.sleep(Number(headers['retry-after']) * 1_000);
		}

		expect(inbox.items).toHaveLength(1);
	});

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
			const sales = await chargesAt(inbox.account.sandbox, 60);
			const leaving = Array.from({ length: carts * 30 }, async (_, nth) => {
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

			expect(sent.flat().filter(isTaken)).toHaveLength(60 * triggers);
		},
		120_000,
	);

	describe('for a webhook with a word of its own for an open charge,', () => {
		const word = 'Aguardando pagamento';

		test('at last, even if two webhooks, of the account and of the charge, have different bodies', async () => {
			const { url } = await inbox.publish(PAID);
			const hash = await inbox.charge();
			const bodies = [{ hash, status: word }, { data: { hash, status: word } }];

			const sent = await Promise.all(bodies.map(async (body) => await sendAsPlatform(url, body)));

			expect(sent.map(isTaken)).toEqual([true, true]);
		});

		test('at once, if a filter excludes the product', async () => {
			await inbox.publish({ ...PAID, ...products('another1') });

			const { status } = await inbox.trigger.post({ hash: await inbox.charge(), status: word });

			expect(status).toBe(200);
		});
	});
});
