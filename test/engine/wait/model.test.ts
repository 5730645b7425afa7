import * as fc from 'fast-check';
import partition from 'lodash/partition';
import type { Fault } from '../../sandbox';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { sequences } from '../../helpers/extent';
import type { RunOutcome, StoredRun } from '../../helpers/engine';
import { leftBy, received, useWaitingRoom } from '../../helpers/waiting';

const RUNS = sequences(1);
const LIMIT_MINUTES = 20;
/** Reads are retried until minute 35. Faults end before, so that one of the last succeeds. */
const LAST_STEP_MINUTE = 33;

/** Faults of the platform, or of a proxy in front of it, for a while. */
const FAULTS: Fault[] = [
	...[404, 408, 500, 503].map((status) => ({ kind: 'status' as const, status, body: {} })),
	{ kind: 'retryAfter', seconds: 60 },
	{ kind: 'html' },
	{ kind: 'emptyBody' },
	{ kind: 'truncatedBody' },
	{ kind: 'resetBeforeProcessing' },
	{ kind: 'delay', ms: 8_000 },
];
/** What a replica that lags says. */
const OLD: Fault = { kind: 'patchBody', set: { payment_status: 'waiting_payment' } };

/** What happens next; `of` names the payment. */
const is = <const T extends string>(...what: T[]) => fc.constantFrom(...what);
const times = fc.integer({ min: 1, max: 3 });
const step = fc.oneof(
	{ weight: 7, arbitrary: fc.record({ is: is('paid', 'noticed'), of: fc.nat(2) }) },
	{
		weight: 4,
		arbitrary: fc.record({ is: is('restarted', 'right', 'right', 'old for a minute') }),
	},
	{ weight: 4, arbitrary: fc.record({ is: is('wrong'), fault: fc.constantFrom(...FAULTS) }) },
	{ weight: 1, arbitrary: fc.record({ is: is('unable to store'), times }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const script = fc.record({
	payments: fc.integer({ min: 1, max: 3 }),
	/** Each so many seconds after the one before. */
	steps: fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), step), { maxLength: 10 }),
});

/** How often the node has run, and which of its outputs have led on. */
const runs = ({ run: { data } }: RunOutcome): unknown => ({
	waits: data.resultData.runData.Wait?.length,
	outputs: data.resultData.runData.After?.map(({ source }) => source[0]?.previousNodeOutput ?? 0),
});

describe('Transaction > Wait for Payment: whatever happens, in whatever order', () => {
	const room = useWaitingRoom();

	test(
		'a payment ends paid if it was paid before the time limit, and only then',
		async () => {
			await fc.assert(
				fc.asyncProperty(script, async ({ payments, steps }) => {
					const { account } = room;
					account.reset();
					const startedAt = clock.elapsed();
					const minutes = (): number => (clock.elapsed() - startedAt) / 60_000;
					const hashes: string[] = [];
					while (hashes.length < payments) hashes.push(await room.charge());
					const paid = new Set<string>();
					let deadline = LIMIT_MINUTES;
					const parked = await room.park(hashes, { minutes: LIMIT_MINUTES });
					let isEnded = false;
					void parked.finished.then(() => (isEnded = true));

					for (const [seconds, next] of steps) {
						if (isEnded || minutes() + seconds / 60 > LAST_STEP_MINUTE) break;
						await clock.sleep(seconds * 1_000);
						// A webhook holds the wait open for a minute, until 15 minutes after the limit.
						const isHeldOpen = next.is === 'noticed' && minutes() < deadline;
						const heldOpenUntil = Math.min(minutes() + 1, LIMIT_MINUTES + 15);
						if (isHeldOpen) deadline = Math.max(deadline, heldOpenUntil);
						await happen(parked, hashes, paid, LIMIT_MINUTES - minutes(), next);
					}
					account.sandbox.clearFaults();
					parked.failResumptions(0);

					const items = received(await parked.finished);
					const [led, open] = partition(hashes, (hash) => paid.has(hash));
					const end = await parked.finished;
					expect(leftBy(end)?.map((items) => items.map(({ hash }) => hash))).toEqual([open, led]);
					expect(items?.map((item) => item.paid)).toEqual([
						...led.map(() => true),
						...open.map(() => false),
					]);
					expect(items?.map((item) => item.timed_out)).toEqual([
						...led.map(() => undefined),
						...open.map(() => true),
					]);
					// The last reads may fail for 15 minutes. The first execution after n8n's start comes 75 seconds late, and a read
					// takes its time.
					expect(minutes()).toBeLessThan(deadline + 15 + 75 / 60 + 0.5);
					const outputs = [...(led.length > 0 ? [1] : []), ...(open.length > 0 ? [0] : [])];
					expect(runs(end)).toEqual({ waits: 1, outputs });
				}),
				{ numRuns: RUNS },
			);
		},
		120_000 + RUNS * 2_000,
	);

	const happen = async (
		parked: StoredRun,
		hashes: string[],
		paid: Set<string>,
		leftMinutes: number,
		step: Step,
	): Promise<void> => {
		const { account } = room;
		const hash = hashes['of' in step ? step.of % hashes.length : 0] ?? '';
		switch (step.is) {
			case 'paid':
				if (leftMinutes > 0) {
					paid.add(hash);
					await room.setStatus([hash]);
				}
				break;
			case 'noticed':
				await parked.resumeByWebhook({ hash, status: 'paid' });
				break;
			case 'restarted':
				room.forget();
				break;
			case 'right':
				account.sandbox.clearFaults();
				parked.failResumptions(0);
				break;
			case 'old for a minute':
				if (leftMinutes < 2) break;
				account.fault('read', OLD, 'always');
				await clock.sleep(60_000);
				account.sandbox.clearFaults();
				break;
			case 'wrong':
				account.fault('read', step.fault, 'always');
				break;
			case 'unable to store':
				parked.failResumptions(step.times);
				break;
		}
	};
});
