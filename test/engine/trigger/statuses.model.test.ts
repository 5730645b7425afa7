import * as fc from 'fast-check';
import { groupOf } from '../../../nodes/DigitalSales/domain/paymentStatus';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { sequences } from '../../helpers/extent';
import { useInbox } from '../../helpers/inbox';
import { sendAsPlatform } from '../../helpers/platform';

const RUNS = sequences(1);
/** The platform has sent all its webhooks about a status. */
const LONG_MS = 1_000_000;

const PATHS = [
	['waiting_payment', 'authorized', 'paid'],
	['waiting_payment', 'expired', 'paid', 'refunded'],
	['waiting_payment', 'paid', 'waiting_refund', 'refunded'],
	['waiting_payment', 'paid', 'med_received', 'med_analysis', 'refunded'],
	['processing', 'antifraud', 'paid', 'pre_chargeback', 'chargeback'],
	['pending', 'analyzing', 'refused', 'paid'],
];
/** What reads show three seconds later counts, also if the webhook's words are the platform's own. */
const SHORT_LAG_MS = 2_500;
/** A card is refused, and the customer gets a PIX: waiting does not come after refused. */
const NEW_PIX = ['refused', 'waiting_payment', 'paid'];
const TRIGGER_ON = [
	'paid',
	'reversed',
	'failed',
	'waiting',
	'paid, reversed',
	'waiting, paid',
	'any',
];
const WORDS = {
	listed: (status: string) => status.toUpperCase(),
	own: (status: string) => `o ${status}`,
	none: () => undefined,
};
const lags = [0, 500, 2_500, 20_000, 40_000, 70_000, 90_000];

const scriptOf = (word: keyof typeof WORDS, mostLagMs: number) => {
	const isShort = mostLagMs <= SHORT_LAG_MS;
	const mostMs = word === 'listed' ? mostLagMs : SHORT_LAG_MS;
	const lagMs = fc.constantFrom(...lags.filter((ms) => ms <= mostMs));
	const thenMs = fc.constantFrom(300, 5_000, 25_000, 45_000, 60_000, 100_000, LONG_MS);
	return fc.record({
		triggerOn: fc.constantFrom(...TRIGGER_ON),
		steps: fc
			.constantFrom(...PATHS, ...(isShort ? [NEW_PIX] : []))
			.chain((path) =>
				fc.tuple(
					...path.map((status) => fc.record({ status: fc.constant(status), lagMs, thenMs })),
				),
			),
		words: fc.constant(WORDS[word]),
		event: fc.constantFrom(undefined, 'transaction', 'renewal'),
	});
};
const script = (mostLagMs: number) =>
	fc
		.constantFrom('listed' as const, 'own' as const, 'none' as const)
		.chain((word) => scriptOf(word, mostLagMs));

describe.each([
	['in one process', 90_000],
	['with a restart after each webhook', 2_500],
	['on two processes', 2_500],
])('A sale that changes its status, %s, while reads lag by up to %i ms', (where, lagMs) => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	test(
		'starts the workflow once for each wanted status that lasts',
		async () => {
			await fc.assert(
				fc.asyncProperty(script(lagMs), async ({ triggerOn, steps, words, event }) => {
					expect(await inbox.close()).toEqual([]);
					inbox.account.reset();
					const { url } = await inbox.publish({ triggerOn });
					if (where === 'on two processes') inbox.trigger.addProcess();
					const { sandbox } = inbox.account;
					const hash = await inbox.charge();
					const sending: Array<Promise<unknown>> = [];
					let shownAt = 0;
					for (const [nth, { status, lagMs, thenMs }] of steps.entries()) {
						// Reads show one status after the other, and the first at once.
						shownAt = nth === 0 ? 0 : Math.max(shownAt + 1, clock.elapsed() + lagMs);
						const show = async (): Promise<void> => {
							await sandbox.setStatus(hash, status);
						};
						const showInMs = shownAt - clock.elapsed();
						if (showInMs <= 0) await show();
						else sending.push(clock.sleep(showInMs).then(show));
						const body = { hash, status: words(status), event, nth };
						sending.push(sendAsPlatform(url, body));
						await clock.sleep(thenMs);
						if (where === 'with a restart after each webhook') await inbox.trigger.restart();
					}
					await Promise.all(sending);
					await inbox.trigger.settled();

					const isWanted = (status: string): boolean =>
						['any', groupOf(status)].some((one) => one && triggerOn.split(', ').includes(one));
					const started = inbox.items.map(({ payment_status: status }) => String(status));
					expect(started).toEqual([...new Set(started)]);
					expect(started.every(isWanted)).toBe(true);
					const lasting = steps.filter(({ thenMs }, nth) => thenMs === LONG_MS || !steps[nth + 1]);
					const wanted = lasting.map(({ status }) => status).filter(isWanted);
					expect(started).toEqual(expect.arrayContaining(wanted));
				}),
				{ numRuns: RUNS },
			);
		},
		60_000 + RUNS * 4_000,
	);
});
