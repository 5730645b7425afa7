import * as fc from 'fast-check';
import { groupOf } from '../../../nodes/DigitalSales/domain/paymentStatus';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { sequences } from '../../helpers/extent';
import { useInbox } from '../../helpers/inbox';

const RUNS = sequences(2);
const MINUTE_MS = 60_000;
/** Longer than any lag. */
const LASTS_MS = 20 * MINUTE_MS;

const PATHS = [
	['paid'],
	['authorized', 'paid'],
	['expired', 'paid'],
	['refused'],
	['paid', 'refunded'],
	['paid', 'med_received', 'med_analysis', 'refunded'],
	['paid', 'pre_chargeback', 'chargedback'],
];
const TRIGGER_ON = ['paid', 'reversed', 'failed', 'waiting, paid', 'paid, reversed', 'any'];

const sale = fc.record({
	path: fc.constantFrom(...PATHS),
	lagsMs: fc.array(fc.integer({ min: 1_000, max: 15 * MINUTE_MS }), { minLength: 4, maxLength: 4 }),
	startsAt: fc.integer({ min: 0, max: 5 * MINUTE_MS }),
	isShouted: fc.boolean(),
	/** The account's and the charge's webhook, with an event of its own. */
	isTwice: fc.boolean(),
});
type Sale = typeof sale extends fc.Arbitrary<infer T> ? T : never;
const script = fc.record({
	triggerOn: fc.constantFrom(...TRIGGER_ON),
	sales: fc.array(sale, { minLength: 1, maxLength: 4 }),
	restartsAt: fc.array(fc.integer({ min: 0, max: 60 * MINUTE_MS }), { maxLength: 3 }),
	hasTwoProcesses: fc.boolean(),
});

describe('A platform that never repeats a webhook, and whose reads lag by 1 s to 15 minutes', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** Sends one webhook for each change. Each status lasts until reads have shown it. */
	const sell = async (hash: string, { path, lagsMs, startsAt, isShouted, isTwice }: Sale) => {
		await clock.sleep(startsAt);
		await inbox.trigger.post({ hash, status: 'waiting_payment' });
		for (const [nth, status] of path.entries()) {
			const named = isShouted ? status.toUpperCase() : status;
			setTimeout(() => void inbox.account.sandbox.setStatus(hash, status), lagsMs[nth]);
			const bodies = [
				{ hash, status: named },
				{ event: status, data: { hash, status: named } },
			];
			for (const body of bodies.slice(isTwice ? 0 : 1)) void inbox.trigger.post(body);
			await clock.sleep(LASTS_MS);
		}
	};

	test(
		'starts the workflow once for each listed status that the form wants',
		async () => {
			await fc.assert(
				fc.asyncProperty(script, async ({ triggerOn, sales, restartsAt, hasTwoProcesses }) => {
					expect(await inbox.close()).toEqual([]);
					inbox.account.reset();
					await inbox.publish({ triggerOn });
					if (hasTwoProcesses) inbox.trigger.addProcess();
					const hashes: string[] = [];
					for (const _ of sales) hashes.push(await inbox.charge());
					const restarting = restartsAt.map(async (at) => {
						await clock.sleep(at);
						await inbox.trigger.restart();
					});
					await Promise.all(sales.map(async (one, nth) => await sell(hashes[nth] ?? '', one)));
					await Promise.all(restarting);
					await inbox.trigger.settled();

					const isWanted = (status: string): boolean =>
						['any', groupOf(status)].some((one) => one && triggerOn.split(', ').includes(one));
					const wanted = sales.flatMap(({ path }, nth) =>
						path.filter(isWanted).map((status) => `${hashes[nth]} ${status}`),
					);
					const started = inbox.items.map(
						({ hash, payment_status: status }) => `${hash} ${status}`,
					);
					const early = hashes.map((hash) => `${hash} waiting_payment`);
					expect(started.filter((one) => !early.includes(one)).sort()).toEqual(wanted.sort());
				}),
				{ numRuns: RUNS },
			);
		},
		60_000 + RUNS * 4_000,
	);
});
