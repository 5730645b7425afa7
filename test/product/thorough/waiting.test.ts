import { setTimeout as pause } from 'node:timers/promises';
import { ACTION_TYPE, NO_OP_TYPE, runWorkflow, START_TYPE } from '../engine/harness';
import { pixParameters } from '../engine/support/account';
import { received, useWaitingRoom, waitParameters } from '../engine/support/waiting';
import { Figures } from '../../support/figures';

const figures = new Figures(
	"Executions that wait for a payment, in n8n's own engine",
	'npm run e2e -- thorough',
);
const LAST_OFFSET_MS = 50;
const ROUNDS = 4;
const AT_ONCE = 6;
const STUCK_AFTER_MS = 10_000;
/** How long the first look takes after the service has read the state: half of the offsets. */
const LOOK_MS = 25;

interface EarlyRun {
	/** What the notice was answered. */
	answered: number | null | undefined;
	stuck: boolean;
	status: unknown;
}

describe('Wait for Payment: a notice around the moment of suspension', () => {
	const room = useWaitingRoom();

	afterAll(() => figures.show());

	/** Charges, waits, and has the payment reported once, so long after the first look began. */
	const runWith = async (offsetMs: number, nth: number): Promise<EarlyRun> => {
		const { sandbox, credentials } = room.account;
		const customerName = `Customer ${nth}`;
		const running = runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{
					name: 'Charge',
					type: ACTION_TYPE,
					parameters: pixParameters(sandbox, { notify: 'automatic', customerName }),
				},
				{ name: 'Wait', type: ACTION_TYPE, parameters: waitParameters({}) },
				{ name: 'After', type: NO_OP_TYPE },
			],
			mode: 'trigger',
			credentials,
		});
		let hash: string | undefined;
		while (hash === undefined || room.reads(hash) === 0) {
			hash = sandbox.transactions.find(({ customer }) => customer.name === customerName)?.hash;
			await pause(1);
		}
		await pause(offsetMs);
		const [report] = await sandbox.pay(hash);
		const run = await running;
		const end = run.parked ? await Promise.race([run.parked.finished, pause(STUCK_AFTER_MS)]) : run;
		const [item] = received(end ?? undefined) ?? [];
		return {
			answered: report?.status,
			stuck: item === undefined,
			status: item?.timedOut === false ? item.payment_status : undefined,
		};
	};

	test('every millisecond from 0 to 50', async () => {
		const offsets = Array.from({ length: ROUNDS }, () =>
			Array.from({ length: LAST_OFFSET_MS + 1 }, (_, offset) => offset),
		).flat();
		room.account.fault('read', { kind: 'delayAfterProcessing', ms: LOOK_MS }, 'always');
		const runs: EarlyRun[] = [];
		let next = 0;
		const worker = async (): Promise<void> => {
			while (next < offsets.length) {
				const nth = next++;
				runs.push(await runWith(offsets[nth] ?? 0, nth));
			}
		};
		await Promise.all(Array.from({ length: AT_ONCE }, worker));

		const early = runs.filter(({ answered }) => answered !== 200).length;
		expect(runs.filter(({ stuck }) => stuck)).toEqual([]);
		expect(runs.every(({ status }) => status === 'paid')).toBe(true);
		expect(early).toBeGreaterThan(0);
		figures.add(
			'one notice, never re-sent, 0 to 50 ms after the first look',
			runs.length,
			`0 stuck; ${early} came before the execution was parked and were turned away, all paid`,
		);
	});
});
