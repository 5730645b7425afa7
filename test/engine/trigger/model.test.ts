import * as fc from 'fast-check';
import { createRunExecutionData } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { sequences } from '../../helpers/extent';
import { forgers } from '../../helpers/notices';
import { processedItems } from '../../helpers/engine';
import { useInbox } from '../../helpers/inbox';
import { isWanted } from '../../helpers/platform';

const FAULTS: Fault[] = [
	...[401, 404, 500, 503].map((status) => ({ kind: 'status' as const, status, body: {} })),
	{ kind: 'html' },
	{ kind: 'truncatedBody' },
	{ kind: 'emptyBody' },
	{ kind: 'resetBeforeProcessing' },
	{ kind: 'delay', ms: 4_000 },
];

/** The statuses of a sale after waiting_payment. */
const PATHS = [
	['paid'],
	['authorized', 'paid'],
	['expired'],
	['expired', 'paid'],
	['paid', 'refunded'],
	['paid', 'med_analysis', 'paid'],
];
const SETTLED = ['paid', 'expired', 'refunded'];
const TRIGGER_ON = ['paid', 'paid, reversed', 'any'];

/** Some are transactions that this process has made or read before. */
const sales = fc.array(fc.record({ path: fc.constantFrom(...PATHS), isSeen: fc.boolean() }), {
	minLength: 3,
	maxLength: 3,
});

/** Another webhook about the same status: a repetition, perhaps in another shape, or with a kind of event. */
const notice = fc.record({
	shape: fc.nat(2),
	event: fc.constantFrom(undefined, undefined, 'transaction', 'renewal', 'reminder'),
});
const more = fc.array(notice, { maxLength: 3 });
const lagMs = fc.constantFrom(0, 0, 500, 2_500, 20_000, 90_000);
/** Mostly the first sale, so that it reaches the end of its path. */
const sale = fc.constantFrom(0, 0, 1, 2);
const nth = fc.nat(9);
const nths = fc.array(nth, { minLength: 1, maxLength: 6 });
const ms = fc.constantFrom(1_000, 5_000, 60_000);
const fault = fc.constantFrom(...FAULTS);
const times = fc.integer({ min: 1, max: 4 });
const is = <const T extends string>(what: T) => fc.constant(what);
const step = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ do: is('change'), sale, lagMs, more }) },
	{ weight: 6, arbitrary: fc.record({ do: is('send'), nths, isAgain: fc.boolean() }) },
	{ weight: 2, arbitrary: fc.record({ do: is('forge'), sale: fc.nat(3) }) },
	{ weight: 3, arbitrary: fc.record({ do: is('fault'), fault, times }) },
	{ weight: 2, arbitrary: fc.record({ do: is('wait'), ms }) },
	{ weight: 2, arbitrary: fc.record({ do: is('restart') }) },
	{ weight: 3, arbitrary: fc.record({ do: is('crash'), writes: fc.nat(4) }) },
	{ weight: 1, arbitrary: fc.record({ do: is('refuseToStore') }) },
	{ weight: 1, arbitrary: fc.record({ do: is('leave'), nth }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Sale {
	hash: string;
	/** The statuses that follow. */
	path: string[];
	was: string[];
	/** When reads show the latest status. */
	shownAt: number;
	/** Whether a webhook of the latest status was answered 200 before reads showed the status. */
	isAnsweredEarly: boolean;
}

interface Notice {
	hash: string;
	status: string;
	body: object;
}

const STEPS = Number(process.env.MODEL_STEPS ?? 14);
const RUNS = sequences(1);
/** Far more than a sender needs once everything works. */
const MOST_ROUNDS = 20;

describe('Any order of notices, late reads, failures, duplicates, crashes and restarts', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	/** The webhooks that the sender repeats until they are answered 200. */
	let pending: Notice[];
	let sold: Sale[];
	const retried = new Set<number>();

	const begin = async (triggerOn: string, wishes: Array<{ path: string[]; isSeen: boolean }>) => {
		expect(await inbox.close()).toEqual([]);
		inbox.account.reset();
		await inbox.publish({ triggerOn });
		[pending, sold] = [[], []];
		retried.clear();
		for (const { path, isSeen } of wishes) {
			const hash = isSeen ? await inbox.chargeHere() : await inbox.charge();
			const was = ['waiting_payment'];
			sold.push({ hash, path: [...path], was, shownAt: 0, isAnsweredEarly: false });
		}
	};

	/** Sends webhooks at the same moment. Webhooks that are not answered 200 stay pending. */
	const send = async (notices: Notice[], isAgain = false): Promise<void> => {
		const done = await Promise.all(
			notices.map(async (one) => {
				if ((await inbox.trigger.post(one.body)).status !== 200) return undefined;
				const sale = sold.find(({ hash }) => hash === one.hash);
				const isEarly = sale?.was.at(-1) === one.status && clock.elapsed() < sale.shownAt;
				if (sale && isEarly) sale.isAnsweredEarly = true;
				return one;
			}),
		);
		if (!isAgain) pending = pending.filter((one) => !done.includes(one));
	};

	/** Changes the status of a sale. Its webhooks are pending at once, and reads show the status after `lagMs`. */
	const change = async ({ sale: at, lagMs, more }: Extract<Step, { do: 'change' }>) => {
		const { sandbox } = inbox.account;
		const sale = sold[at];
		const status = sale?.path.shift();
		if (!sale || status === undefined) return;
		const { hash } = sale;
		sale.was.push(status);
		sale.shownAt = Math.max(sale.shownAt, clock.elapsed() + lagMs);
		sale.isAnsweredEarly = false;
		const show = async (): Promise<void> => await sandbox.setStatus(hash, status);
		if (sale.shownAt === clock.elapsed()) await show();
		else setTimeout(() => void show(), sale.shownAt - clock.elapsed());
		const stored = sandbox.transactions.find((one) => one.hash === hash);
		const forge = stored ? forgers(stored) : [];
		for (const { shape, event } of [{ shape: 0, event: undefined }, ...more]) {
			const plain = forge[shape]?.(hash, status) as object;
			pending.push({ hash, status, body: { ...plain, ...(event && { event }) } });
		}
	};

	/** Kills n8n after this number of writes to its table of processed items, and retries its executions. */
	const crash = async (writes: number): Promise<void> => {
		const { trigger } = inbox;
		processedItems.writesLeft = writes;
		await send(pending);
		const runs = await trigger.settled();
		processedItems.clear({ keepRows: true });
		await trigger.restart();
		for (const [nth, { status }] of runs.entries()) {
			if (status !== 'error' || retried.has(nth)) continue;
			// Also one that had waited since before the crash.
			retried.add(nth);
			await trigger.retry(trigger.begun[nth] ?? createRunExecutionData());
		}
	};

	const take = async (one: Step): Promise<void> => {
		const { trigger, account } = inbox;
		const nthPending = (nth: number): Notice[] => pending.slice(nth % pending.length).slice(0, 1);
		if (one.do === 'change') await change(one);
		else if (one.do === 'send') await send(one.nths.flatMap(nthPending), one.isAgain);
		else if (one.do === 'wait') await clock.sleep(one.ms);
		else if (one.do === 'restart') await trigger.restart();
		else if (one.do === 'crash') await crash(one.writes);
		else if (one.do === 'forge') {
			const hash = sold[one.sale]?.hash ?? 'nosuch1';
			await trigger.post({ hash, status: 'paid' });
		} else if (one.do === 'fault') {
			const { fault, times } = one;
			account.fault('read', { ...fault, times });
		} else if (one.do === 'refuseToStore') {
			trigger.failingStores = 1;
			await send(pending.slice(0, 1));
			trigger.failingStores = 0;
		} else {
			for (const { body } of nthPending(one.nth)) {
				await inbox.postAndLeave(body, async () => await clock.sleep(2));
			}
			await trigger.settled();
		}
	};

	/** Repeats all webhooks, without faults, until they are answered 200. */
	const finish = async (): Promise<void> => {
		inbox.account.sandbox.clearFaults();
		await clock.sleep(100_000);
		for (let round = 0; pending.length > 0 && round < MOST_ROUNDS; round += 1) {
			await send(pending);
			await clock.sleep(31_000);
		}
		await inbox.trigger.settled();
		// No read shows a past status, so its webhook may never be answered 200.
		const isPresent = (one: Notice): boolean =>
			sold.some(({ hash, was }) => hash === one.hash && was.at(-1) === one.status);
		expect(pending.filter(isPresent)).toEqual([]);
	};

	test(
		'start the workflow once for each settled sale that it wants',
		async () => {
			const steps = fc.array(step, { minLength: 4, maxLength: STEPS });
			await fc.assert(
				fc.asyncProperty(fc.constantFrom(...TRIGGER_ON), sales, steps, async (on, wishes, all) => {
					await begin(on, wishes);
					for (const one of all) await take(one);
					await finish();

					const started = inbox.items.map(
						({ hash, payment_status: status }) => `${String(hash)} ${String(status)}`,
					);
					expect(started).toEqual([...new Set(started)]);
					const known = sold.flatMap(({ hash, was }) => was.map((status) => `${hash} ${status}`));
					expect(known).toEqual(expect.arrayContaining(started));
					for (const { hash, was, isAnsweredEarly } of sold) {
						const last = was.at(-1) ?? '';
						if (!SETTLED.includes(last)) continue;
						const cameBack = was.indexOf(last) < was.length - 1;
						// A read that still shows the status in between has answered the webhook.
						if (cameBack && isAnsweredEarly) continue;
						expect(started.includes(`${hash} ${last}`)).toBe(isWanted(on, last));
					}
				}),
				{ numRuns: RUNS },
			);
		},
		120_000 + RUNS * 2_000,
	);
});
