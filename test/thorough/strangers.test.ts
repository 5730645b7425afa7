import { clock } from '../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../helpers/charge';
import { useInbox } from '../helpers/inbox';
import { isTaken, postFrom, sendAsPlatform } from '../helpers/platform';

const STRANGER = '203.0.113.7';
const SALES = 20;
const UNPAID = 50;

describe.each([20, 60, null])(
	'Ten forged webhooks a second, under a limit of %p reads a minute',
	(readsPerMinute) => {
		const inbox = useInbox({ resendAfterSeconds: [], readsPerMinute });

		/** A stranger sends a webhook ten times a second until the returned function is called. */
		const flood = (hashOf: (nth: number) => string, addressOf = (): string => STRANGER) => {
			let isOver = false;
			const posting: Array<Promise<unknown>> = [];
			const flooding = (async () => {
				for (let nth = 0; !isOver; nth++) {
					const body = { hash: hashOf(nth), status: 'paid' };
					posting.push(postFrom(addressOf(), inbox.trigger.url, body));
					await clock.sleep(100);
				}
				await Promise.all(posting);
			})();
			return async (): Promise<void> => {
				isOver = true;
				await flooding;
			};
		};
		/** Sales at the checkout, one every six seconds, whose platform sends from another address. */
		const sell = async (): Promise<number> => {
			const { sandbox } = inbox.account;
			const sales = await chargesAt(sandbox, SALES);
			const sent = sales.map(async (hash, nth) => {
				await clock.sleep(nth * 6_000);
				await sandbox.setStatus(hash, 'paid');
				return await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });
			});
			return (await Promise.all(sent)).filter(isTaken).length;
		};

		beforeEach(async () => {
			await inbox.publish({ triggerOn: ['paid'] });
		});

		test('with unknown hashes prevent no sale of another sender', async () => {
			const stop = flood((nth) => `nosuch${nth}`);
			await clock.sleep(10_000);

			expect(await sell()).toBe(SALES);
			await stop();
			expect(inbox.items).toHaveLength(SALES);
		});

		test('of a sender with an IPv4 and an IPv6 address prevent no sale of another sender', async () => {
			let nth = 0;
			const stop = flood(
				(at) => `nosuch${at}`,
				() => (nth++ % 2 === 0 ? STRANGER : '2001:db8::7'),
			);
			await clock.sleep(10_000);

			expect(await sell()).toBe(SALES);
			await stop();
			expect(inbox.items).toHaveLength(SALES);
		});

		test('about 50 unpaid charges prevent no sale of another sender', async () => {
			const unpaid = await chargesAt(inbox.account.sandbox, UNPAID);
			const stop = flood((nth) => unpaid[nth % UNPAID] ?? '');
			await clock.sleep(10_000);

			expect(await sell()).toBe(SALES);
			await stop();
			expect(inbox.items).toHaveLength(SALES);
		});

		test('about the sale itself, among 50 unpaid charges, do not delay it', async () => {
			const [sale = '', ...unpaid] = await chargesAt(inbox.account.sandbox, UNPAID);
			const stop = flood((nth) => (nth % 2 === 0 ? sale : (unpaid[nth % (UNPAID - 1)] ?? '')));
			await clock.sleep(60_000);
			await inbox.account.sandbox.setStatus(sale, 'expired');
			await clock.sleep(10_000);
			await inbox.account.sandbox.setStatus(sale, 'paid');

			await sendAsPlatform(inbox.trigger.url, { hash: sale, status: 'paid' });
			await stop();
			expect(inbox.items).toMatchObject([{ hash: sale, payment_status: 'paid' }]);
		});

		test('about 50 unpaid charges cost two reads each, then 24 a minute', async () => {
			const unpaid = await chargesAt(inbox.account.sandbox, UNPAID);
			const stop = flood((nth) => unpaid[nth % UNPAID] ?? '');
			await clock.sleep(60_000);
			await stop();

			expect(inbox.reads).toBeLessThanOrEqual(2 * UNPAID + 24 + 24);
		});

		test.each([
			(suffix: string) => `2001:db8:1:2:${suffix}:b:c:d`,
			(suffix: string) => `2001:db8::${suffix}:b:c`,
			(suffix: string) => `2001:db8:1::${suffix}`,
		])('from any address of a network count as from one sender', async (address) => {
			let nth = 0;
			const stop = flood(
				(at) => `nosuch${at}`,
				() => address((nth++ % 60_000).toString(16)),
			);
			await clock.sleep(12_000);
			await stop();

			expect(inbox.reads).toBeLessThanOrEqual(25);
		});

		test('from all addresses together cost 97 reads a minute', async () => {
			let nth = 0;
			const stop = flood(
				(at) => `nosuch${at}`,
				() => `198.51.100.${nth++ % 250}`,
			);
			await clock.sleep(52_000);
			await stop();

			expect(inbox.reads).toBeLessThanOrEqual(97);
		});
	},
);
