import * as fc from 'fast-check';
import { clock } from '../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../sandbox';
import { sequences } from '../helpers/extent';
import { chargesAt } from '../helpers/charge';
import { useInbox } from '../helpers/inbox';
import { post, sendAsPlatform } from '../helpers/platform';
import { received, waitingRoomOf } from '../helpers/waiting';

const RUNS = sequences(1);

/** Faults of the platform, or of a proxy in front of it, for a while. */
const FAULTS: Fault[] = [
	...[404, 500, 503].map((status) => ({ kind: 'status' as const, status, body: {} })),
	{ kind: 'retryAfter', seconds: 20 },
	{ kind: 'html' },
	{ kind: 'truncatedBody' },
	{ kind: 'resetBeforeProcessing' },
	{ kind: 'delay', ms: 4_000 },
];

/** When something happens, in milliseconds after the start. */
const at = fc.integer({ min: 0, max: 150_000 });
const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength: number) =>
	fc.array(arbitrary, { maxLength });
const sale = fc.record({
	at,
	/** How long after the webhook reads show the payment. */
	lagMs: fc.constantFrom(0, 0, 500, 2_500, 20_000, 90_000),
	claims: fc.constantFrom('paid', 'paid', 'PAID', 'approved', undefined),
	isChargedHere: fc.boolean(),
	/** Whether the platform sends the webhook twice at the same time. */
	isTwice: fc.boolean(),
	/** Whether the platform sent a webhook about the charge before. */
	wasAnnounced: fc.boolean(),
});
const script = fc.record({
	triggerOn: fc.constantFrom('paid', 'paid, reversed', 'waiting, paid', 'any'),
	sales: fc.array(sale, { minLength: 1, maxLength: 6 }),
	waits: some(fc.record({ at, paidAfterMs: fc.constantFrom(undefined, 5_000, 100_000) }), 6),
	floods: some(
		fc.record({ at, isUnpaid: fc.boolean(), count: fc.integer({ min: 10, max: 120 }) }),
		2,
	),
	faults: some(
		fc.record({
			at,
			fault: fc.constantFrom(...FAULTS),
			forMs: fc.integer({ min: 500, max: 30_000 }),
		}),
		2,
	),
	restarts: some(at, 2),
});
type Script = typeof script extends fc.Arbitrary<infer T> ? T : never;

describe.each([null, 60])(
	'Sales, waits, strangers, lags, failures, restarts, in any order, under a limit of %p',
	(readsPerMinute) => {
		const inbox = useInbox({ resendAfterSeconds: [], readsPerMinute });

		/** Does one thing after the other at its time, all of them side by side. */
		const each = async <T extends { at: number }>(
			list: readonly T[],
			task: (one: T, nth: number) => Promise<void>,
		): Promise<void> => {
			const doing = list.map(async (one, nth) => {
				await clock.sleep(one.at);
				await task(one, nth);
			});
			await Promise.all(doing);
		};

		const play = async (
			{ sales, waits, floods, faults, restarts }: Script,
			room: ReturnType<typeof waitingRoomOf>,
		): Promise<{ sold: string[]; waited: unknown[] }> => {
			const { account, trigger } = inbox;
			const { sandbox } = account;
			const { url } = trigger;
			const sold: string[] = [];
			for (const { isChargedHere } of sales) {
				sold.push(isChargedHere ? await inbox.chargeHere() : await inbox.charge());
			}
			const unpaid = floods.some(({ isUnpaid }) => isUnpaid) ? await chargesAt(sandbox, 10) : [];
			const awaited = await chargesAt(sandbox, waits.length);
			const waited: unknown[] = [];
			await Promise.all([
				each(sales, async ({ lagMs, claims, isTwice, wasAnnounced }, nth) => {
					const hash = sold[nth] ?? '';
					if (wasAnnounced) {
						await sendAsPlatform(url, { hash, status: 'waiting_payment' });
						// Requests take no time here, but a later webhook has to come later.
						await clock.sleep(1);
					}
					if (lagMs === 0) await sandbox.setStatus(hash, 'paid');
					else setTimeout(() => void sandbox.setStatus(hash, 'paid'), lagMs);
					// In the platform's own words, or none, a webhook is about what reads show three seconds later.
					const isListed = claims?.toLowerCase() === 'paid';
					const status = isListed || lagMs < 3_000 ? claims : 'paid';
					const notices = isTwice ? [status, status] : [status];
					await Promise.all(notices.map((one) => sendAsPlatform(url, { hash, status: one })));
				}),
				each(waits, async ({ paidAfterMs }, nth) => {
					const hash = awaited[nth] ?? '';
					const parked = await room.park([hash], { minutes: 20 });
					if (paidAfterMs !== undefined) {
						await clock.sleep(paidAfterMs);
						await room.setStatus([hash]);
					}
					const [item] = received(await parked.finished) ?? [];
					waited[nth] = item?.paid;
				}),
				each(floods, async ({ isUnpaid, count }, flood) => {
					for (let nth = 0; nth < count; nth++) {
						const hash = isUnpaid ? unpaid[nth % unpaid.length] : `nosuch${flood}${nth}`;
						void post(url, { hash, status: 'paid' });
						await clock.sleep(100);
					}
				}),
				each(faults, async ({ fault, forMs }) => {
					account.fault('read', fault, 'always');
					await clock.sleep(forMs);
					sandbox.clearFaults();
				}),
				each(
					restarts.map((at) => ({ at })),
					async () => {
						room.forget();
						await trigger.restart();
					},
				),
			]);
			await trigger.settled();
			return { sold, waited };
		};

		test(
			'every wanted sale starts the workflow once, and every wait that is paid ends paid',
			async () => {
				await fc.assert(
					fc.asyncProperty(script, async (one) => {
						expect(await inbox.close()).toEqual([]);
						inbox.account.reset();
						await inbox.publish({ triggerOn: one.triggerOn });
						const { sold, waited } = await play(one, waitingRoomOf(inbox.account));

						const paid = inbox.items.filter((item) => item.payment_status === 'paid');
						expect(paid.map(({ hash }) => hash).sort()).toEqual([...sold].sort());
						expect(waited).toEqual(one.waits.map(({ paidAfterMs }) => paidAfterMs !== undefined));
					}),
					{ numRuns: RUNS },
				);
			},
			120_000 + RUNS * 4_000,
		);
	},
);
