import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../helpers/charge';
import { products, useInbox } from '../helpers/inbox';
import { isTaken, isTakenAtFirst, sendAsPlatform, type Sent } from '../helpers/platform';

describe('Digital Sales Trigger: the platform gets 200 for each sale', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	let urls: string[];

	const publish = async (forms: INodeParameters[]): Promise<void> => {
		urls = [];
		for (const form of forms)
			urls.push((await inbox.publish({ triggerOn: ['paid'], ...form })).url);
	};
	/** Each trigger of the account gets the webhook. */
	const send = async (body: object): Promise<Sent[]> =>
		await Promise.all(urls.map(async (url) => await sendAsPlatform(url, body)));
	/** Does one thing after the other, so many a minute, side by side. */
	const each = async <T, R>(all: T[], perMinute: number, task: (one: T) => Promise<R>) =>
		await Promise.all(
			all.map(async (one, nth) => {
				await clock.sleep((nth * 60_000) / perMinute);
				return await task(one);
			}),
		);
	const pay = async (hash: string): Promise<Sent[]> => {
		await inbox.account.sandbox.setStatus(hash, 'paid');
		return await send({ hash, status: 'paid' });
	};

	test.each([
		[8, 1],
		[2, 3],
	])(
		'beside %i abandoned carts a minute, each with a hash of its own, at %i triggers of one account',
		async (carts, triggers) => {
			await publish(Array(triggers).fill({}));
			const sales = await chargesAt(inbox.account.sandbox, 60);
			const leaving = each(range(carts * 30), carts, async (nth) => {
				return await send({ hash: `cart${nth}`, status: 'checkout_abandoned' });
			});

			await clock.sleep(300_000);
			const sent = await each(sales, 3, pay);
			await leaving;

			expect(sent.flat().filter(isTaken)).toHaveLength(sales.length * triggers);
		},
		120_000,
	);

	test('at first, if each of six products has a trigger that gets all webhooks', async () => {
		const perMinute = 10;
		const hashes = await chargesAt(inbox.account.sandbox, perMinute * 3);
		const own = inbox.account.sandbox.transactions[0]?.product.hash ?? '';
		const others = range(5).map((nth) => `other${nth}`);
		await publish([...others, own].map((hash) => products(hash)));

		const sent = await each(hashes, perMinute, async (hash) => {
			const opening = [0, 4_000, 12_000].map(async (ms) => {
				await clock.sleep(ms);
				return await send({ hash, status: 'waiting_payment', event: `event_${ms}` });
			});
			await clock.sleep(60_000);
			return [await pay(hash), ...(await Promise.all(opening))];
		});

		expect(sent.flat(2).filter((one) => !isTakenAtFirst(one))).toEqual([]);
		expect(inbox.items).toHaveLength(hashes.length);
	}, 120_000);

	test.each([
		[4_000, 3, 60, 5],
		[4_000, 1, 160, 8],
	])(
		'if reads take %i ms, and %i triggers of one account get %i sales, %i a second',
		async (ms, triggers, count, perSecond) => {
			await publish(Array(triggers).fill({}));
			const sales = await chargesAt(inbox.account.sandbox, count);
			inbox.account.fault('read', { kind: 'delay', ms }, 'always');

			const sent = await each(sales, 60 * perSecond, pay);

			expect(sent.flat().filter(isTaken)).toHaveLength(count * triggers);
		},
		120_000,
	);
});
