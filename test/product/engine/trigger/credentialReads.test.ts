import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { accounts } from '../../../../nodes/DigitalSales/notice/accountOf';
import type { CredentialData } from '../harness';
import { useInbox } from '../support/inbox';

/** Accepts every notice unread, so that only the credential is read. */
const UNVERIFIED = { triggerOn: ['any'], options: { verify: false, deduplicate: false } };
const NOTICE = { hash: 'ab12', status: 'paid' };

describe('Digital Sales Trigger: how often its credential is read', () => {
	const inbox = useInbox();
	const realNow = clock.elapsed;
	let now: number;

	beforeEach(() => {
		now = realNow();
		clock.elapsed = () => now;
	});
	afterEach(() => {
		clock.elapsed = realNow;
	});

	/** A trigger of a workflow of its own, and how often its credential has been read. */
	const publish = async (more: { failing?: () => boolean; apiToken?: string } = {}) => {
		const { failing = () => false, apiToken = inbox.account.sandbox.apiToken } = more;
		let reads = 0;
		const credentials: CredentialData = {
			get digitalSalesApi() {
				reads += 1;
				if (failing()) throw new Error('The database is away');
				return { ...inbox.account.credentials.digitalSalesApi, apiToken };
			},
		};
		const trigger = await inbox.publish(UNVERIFIED, { credentials });
		return { trigger, reads: () => reads };
	};
	const filled = (count: number): void => {
		for (let nth = 0; nth < count; nth += 1) {
			void accounts.get(`other ${nth}`, async () => await new Promise(() => undefined));
		}
	};

	test('once in a burst of notices', async () => {
		const { trigger, reads } = await publish();

		const answers = await Promise.all(
			Array.from({ length: 20 }, async () => await trigger.post(NOTICE)),
		);
		answers.push(await trigger.post(NOTICE));

		expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 21 }, () => 200));
		expect(reads()).toBe(1);
	});

	test('again after five seconds, so that a change of it takes effect', async () => {
		const { trigger, reads } = await publish();
		await trigger.post(NOTICE);

		now += 4_900;
		await trigger.post(NOTICE);
		expect(reads()).toBe(1);

		now += 100;
		await trigger.post(NOTICE);
		expect(reads()).toBe(2);
	});

	test('for each trigger, which never uses the account of another', async () => {
		const tokens = ['test-token-of-the-first', 'test-token-of-the-second'] as const;
		const [first, second] = [
			await publish({ apiToken: tokens[0] }),
			await publish({ apiToken: tokens[1] }),
		];

		for (const { trigger } of [first, second, first, second]) {
			await trigger.post({ ...NOTICE, note: `${tokens[0]} ${tokens[1]}` });
		}

		expect([first.reads(), second.reads()]).toEqual([1, 1]);
		const notes = [first, second].map(({ trigger }) => trigger.executions[0]?.[0]?.json.note);
		expect(notes[0]).not.toContain(tokens[0]);
		expect(notes[0]).toContain(tokens[1]);
		expect(notes[1]).not.toContain(tokens[1]);
		expect(notes[1]).toContain(tokens[0]);
	});

	test('again at the next notice if it could not be read', async () => {
		let isAway = true;
		const { trigger, reads } = await publish({ failing: () => isAway });

		const refused = await trigger.post(NOTICE);
		isAway = false;
		const taken = await trigger.post(NOTICE);

		expect([refused.status, taken.status]).toEqual([503, 200]);
		expect(reads()).toBe(2);
	});

	test('the accounts of at most a hundred triggers are kept in memory', async () => {
		filled(100);
		const { trigger, reads } = await publish();

		await trigger.post(NOTICE);
		expect(accounts.size).toBe(100);
		expect(accounts.list('other 0')).toEqual([]);

		await trigger.post(NOTICE);
		expect(reads()).toBe(1);
	});

	test('an expired account does not stay in memory', async () => {
		filled(50);
		now += 5_000;
		const { trigger } = await publish();

		await trigger.post(NOTICE);

		expect(accounts.size).toBe(1);
	});
});
