import { clock } from '../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../helpers/charge';
import { countByStatus, useInbox } from '../helpers/inbox';
import { isTaken, post, sendAsPlatform } from '../helpers/platform';

const SALES = 10;
/** Executions that wait. */
const MOST_CLAIMS = 200;

describe('Ten forged webhooks a second, at a platform that refuses no read', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** A stranger sends a webhook ten times a second until the returned function is called. */
	const flood = (hashOf: (nth: number) => string) => {
		let isOver = false;
		const posting: Array<Promise<unknown>> = [];
		const flooding = (async () => {
			for (let nth = 0; !isOver; nth++) {
				posting.push(post(inbox.trigger.url, { hash: hashOf(nth), status: 'paid' }));
				await clock.sleep(100);
			}
			await Promise.all(posting);
		})();
		return async (): Promise<void> => {
			isOver = true;
			await flooding;
		};
	};
	/** Sells one every six seconds; returns how many the trigger took. */
	const sell = async (sales: string[]): Promise<number> => {
		const sent = sales.map(async (hash, nth) => {
			await clock.sleep(nth * 6_000);
			await inbox.account.sandbox.setStatus(hash, 'paid');
			return await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });
		});
		return (await Promise.all(sent)).filter(isTaken).length;
	};

	beforeEach(async () => await inbox.publish({ triggerOn: ['paid'] }));

	test('with unknown hashes prevent no sale of a charge that this n8n made or has read', async () => {
		const sales = await chargesAt(inbox.account.sandbox, SALES);
		for (const [nth, hash] of sales.entries()) {
			if (nth % 2 === 0) await post(inbox.trigger.url, { hash, status: 'waiting_payment' });
			else sales[nth] = await inbox.chargeHere({ orderReference: `order ${nth}` });
		}
		const stop = flood((nth) => `nosuch${nth}`);
		await clock.sleep(10_000);

		expect(await sell(sales)).toBe(SALES);
		await stop();
		await inbox.trigger.settled();
		expect(inbox.items).toHaveLength(SALES);
	});
});

describe('Executions that wait', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	test('are 200 at most, and then the platform has to try again later', async () => {
		const { url } = await inbox.publish({ triggerOn: ['paid'] });
		const hashes = await chargesAt(inbox.account.sandbox, MOST_CLAIMS + 1);
		const postAll = async (some: string[]) =>
			await Promise.all(
				some.map(async (hash) => await inbox.trigger.post({ hash, status: 'paid' })),
			);
		for (let nth = 0; nth < MOST_CLAIMS; nth += 20) await postAll(hashes.slice(nth, nth + 20));

		const last = hashes.slice(MOST_CLAIMS);
		expect(countByStatus(await postAll(last))).toEqual({ 503: 1 });
		await clock.sleep(21 * 60_000);
		expect(await post(url, { hash: last[0], status: 'paid' })).toBe(200);
	});
});
