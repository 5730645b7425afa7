import * as fc from 'fast-check';
import { clock } from '../../nodes/DigitalSales/shared/clock';
import { sequences } from '../helpers/extent';
import { useInbox } from '../helpers/inbox';
import { isWanted, post, sendAsPlatform } from '../helpers/platform';

const RUNS = sequences(1);
const MINUTE_MS = 60_000;
/** Longer than an execution looks for a claim, restarts included. The platform has sent all its webhooks about a status. */
const LONG_MS = 30 * MINUTE_MS;

const PATHS = [
	['waiting_payment', 'authorized', 'paid'],
	['waiting_payment', 'expired', 'paid', 'refunded'],
	['waiting_payment', 'paid', 'waiting_refund', 'refunded'],
	['waiting_payment', 'paid', 'med_received', 'med_analysis', 'refunded'],
	['processing', 'antifraud', 'paid', 'pre_chargeback', 'chargeback'],
	['pending', 'analyzing', 'refused', 'paid'],
];
/** A card is refused, and the customer gets a PIX: waiting does not come after refused. */
const NEW_PIX = ['refused', 'waiting_payment', 'paid'];
const TRIGGER_ON = [
	...['paid', 'reversed', 'failed', 'waiting', 'paid, reversed', 'waiting, paid', 'any'],
];

/** What reads show three seconds later counts, also if the webhook's words are the platform's own. */
const shortLagMs = fc.constantFrom(0, 500, 2_500);
const lagMs = fc.constantFrom(0, 500, 2_500, 20_000, 40_000, 70_000, 90_000);
const longLagMs = fc.integer({ min: 1_000, max: 15 * MINUTE_MS });
const someMs = fc.constantFrom(300, 5_000, 25_000, 45_000, 60_000, 100_000, LONG_MS);
const event = fc.constantFrom(undefined, 'transaction', 'renewal');

const sale = (word: string, paths: string[][], lag: fc.Arbitrary<number>, then = someMs) => {
	const stepOf = (status: string, nth: number) =>
		fc.record({ status: fc.constant(status), lagMs: lag, thenMs: nth === 0 ? someMs : then });
	return fc.record({
		steps: fc.constantFrom(...paths).chain((path) => fc.tuple(...path.map(stepOf))),
		word: fc.constant(word),
		event,
		/** The account's and the charge's webhook. */
		isTwice: fc.boolean(),
	});
};
const inShortLag = ['LISTED', 'own', ''].map((word) => sale(word, [...PATHS, NEW_PIX], shortLagMs));
const repeated = fc.oneof(...inShortLag, sale('LISTED', PATHS, lagMs));
const unrepeated = fc.oneof(
	...['listed', 'LISTED'].map((word) => sale(word, PATHS, longLagMs, fc.constant(LONG_MS))),
);
type Sale = typeof repeated extends fc.Arbitrary<infer T> ? T : never;

const named = (status: string, word: string): string | undefined => {
	if (word === '') return undefined;
	if (word === 'own') return `o ${status}`;
	return word === 'LISTED' ? status.toUpperCase() : status;
};

describe.each([
	['repeats webhooks, to one process', repeated, sendAsPlatform],
	['repeats webhooks, around restarts', fc.oneof(...inShortLag), sendAsPlatform],
	['repeats webhooks, to two processes', fc.oneof(...inShortLag), sendAsPlatform],
	['never repeats webhooks, to one process', unrepeated, post],
	['never repeats webhooks, around restarts', unrepeated, post],
	['never repeats webhooks, to two processes', unrepeated, post],
])('A sale that changes its status, of a platform that %s', (where, arbitrary, send) => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const sell = async (hash: string, { steps, word, event, isTwice }: Sale): Promise<void> => {
		const doing: Array<Promise<unknown>> = [];
		let shownAt = 0;
		for (const [nth, { status, lagMs, thenMs }] of steps.entries()) {
			// Reads show one status after the other, and the first at once.
			shownAt = nth === 0 ? 0 : Math.max(shownAt + 1, clock.elapsed() + lagMs);
			const showInMs = shownAt - clock.elapsed();
			const show = async () => await inbox.account.sandbox.setStatus(hash, status);
			if (showInMs > 0) doing.push(clock.sleep(showInMs).then(show));
			else await show();
			const of = { hash, status: named(status, word) };
			const bodies = [
				{ ...of, event, nth },
				{ event: status, data: of },
			];
			for (const body of bodies.slice(0, isTwice ? 2 : 1))
				doing.push(send(inbox.trigger.url, body));
			await clock.sleep(thenMs);
			if (where.endsWith('restarts')) await inbox.trigger.restart();
		}
		await Promise.all(doing);
	};

	test(
		'starts the workflow once for each wanted status that lasts',
		async () => {
			const sales = fc.array(arbitrary, { minLength: 1, maxLength: 3 });
			const restarts = fc.array(fc.nat(30 * MINUTE_MS), { minLength: 1, maxLength: 4 });
			await fc.assert(
				fc.asyncProperty(
					fc.constantFrom(...TRIGGER_ON),
					sales,
					restarts,
					async (triggerOn, sales, restarts) => {
						expect(await inbox.close()).toEqual([]);
						inbox.account.reset();
						await inbox.publish({ triggerOn });
						if (where.endsWith('two processes')) inbox.trigger.addProcess();
						const hashes: string[] = [];
						for (const _ of sales) hashes.push(await inbox.charge());
						const restarting = where.endsWith('restarts') ? restarts : [];
						await Promise.all([
							...sales.map(async (one, nth) => await sell(hashes[nth] ?? '', one)),
							...restarting.map(async (at) => {
								await clock.sleep(at);
								await inbox.trigger.restart();
							}),
						]);
						await inbox.trigger.settled();

						const started = inbox.items.map(({ hash, payment_status: s }) => `${hash} ${s}`);
						expect(started).toEqual([...new Set(started)]);
						const wanted = sales.flatMap(({ steps }, nth) =>
							steps.map(({ status, thenMs }, at) => ({
								key: isWanted(triggerOn, status) ? `${hashes[nth]} ${status}` : undefined,
								lasts: thenMs === LONG_MS || !steps[at + 1],
							})),
						);
						expect(wanted.map(({ key }) => key)).toEqual(expect.arrayContaining(started));
						const lasting = wanted.filter(({ key, lasts }) => key && lasts);
						expect(started).toEqual(expect.arrayContaining(lasting.map(({ key }) => key)));
					},
				),
				{ numRuns: RUNS },
			);
		},
		60_000 + RUNS * 4_000,
	);
});
