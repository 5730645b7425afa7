import { setTimeout as pause } from 'node:timers/promises';
import { addressOf, publish, trigger } from '../../e2e/stage/workflows';
import { until } from '../../../support/until';
import type { N8n } from '../../n8n/n8n';
import { postJson } from '../../../support/http';
import type { Execution } from '../../n8n/execution';
import { busy, type Chance, eachOf } from './orders';

const WEBHOOK_ID = 'crash-notices';
const AT_ONCE = 8;
const RESEND_MS = 250;
const TAKEN_WITHIN_MS = 60_000;
const FAILED = ['error', 'crashed'];

/** A service that repeats what was not answered with 200, and an n8n that is killed meanwhile. */
export class NoticeDrill {
	kills = 0;
	/** Notices sent, repeated ones included. */
	sent = 0;
	/** Answered with 200 before n8n was killed, and in no execution after it was started again. */
	readonly lost = new Set<string>();
	readonly retries: string[] = [];
	/** Executions that n8n did not recover: killed before its event log knew of them. */
	readonly stuck = new Set<string>();
	/** Answered with 200 at some time. */
	private readonly taken = new Set<string>();
	/** Found in executions, the last of which has this id. */
	private readonly seen = new Set<string>();
	private newest = 0;
	private readonly retried = new Set<string>();

	constructor(
		private readonly n8n: N8n,
		private readonly chance: Chance,
		private readonly hashes: ReadonlySet<string>,
	) {}

	async publish(): Promise<void> {
		const chain = [trigger(WEBHOOK_ID, { triggerOn: ['paid'] }), busy(0.5)];
		await publish(this.n8n, 'notices', chain);
	}

	/** Sends notices, and some that were taken before; kills n8n on the way, and goes on. */
	async wave(fresh: readonly string[]): Promise<void> {
		const { chance, n8n } = this;
		const before = this.newest;
		const notices = chance.shuffled([...fresh, ...chance.some(fresh, 0.2), ...this.repeats()]);
		const killAt = chance.within(1, notices.length);
		const extraMs = chance.within(0, 300);
		const taken = new Set<string>();
		let answers = 0;
		let kill: Promise<void> | undefined;
		await eachOf(notices, AT_ONCE, async (hash) => {
			if ((await this.send(hash)) === 200) taken.add(hash);
			if ((answers += 1) === killAt) kill = pause(extraMs).then(async () => await n8n.kill());
		});
		await kill;
		this.kills += 1;
		await n8n.startAgain();
		await this.look();
		for (const hash of taken) if (!this.seen.has(hash)) this.lost.add(hash);

		// A person may press Retry before the service has sent again what was not taken, or after it.
		if (chance.is(0.5)) await this.retryCrashed(before);
		const missing = [...fresh].filter((hash) => !taken.has(hash));
		await eachOf([...missing, ...this.repeats()], AT_ONCE, async (hash) => await this.insist(hash));
		await this.look();
		if (chance.is(0.5)) await this.retryCrashed(before);
	}

	/** Presses Retry once on each failed or crashed execution after an id. */
	async retryCrashed(since = 0): Promise<void> {
		const { rest } = this.n8n;
		for (const id of await rest.settled()) this.stuck.add(id);
		const crashed = (await rest.executionsSince(since)).filter(
			({ summary: { id, status } }) =>
				(FAILED.includes(status) || this.stuck.has(id)) && !this.retried.has(id),
		);
		await eachOf(crashed, AT_ONCE, async ({ summary }) => {
			this.retried.add(summary.id);
			const { id, status } = await rest.retry(summary.id, this.chance.is(0.5));
			const ended = await rest.ended(id);
			this.retries.push(
				`${status} ${this.emittedBy(ended).length > 0 ? 'with' : 'without'} an item`,
			);
		});
	}

	/** How many executions have ended well with an item of each hash. */
	async emissions(): Promise<Map<string, number>> {
		for (const id of await this.n8n.rest.settled()) this.stuck.add(id);
		const counts = new Map<string, number>();
		for (const execution of await this.n8n.rest.executionsSince()) {
			if (execution.summary.status !== 'success') continue;
			for (const hash of this.emittedBy(execution)) counts.set(hash, (counts.get(hash) ?? 0) + 1);
		}
		return counts;
	}

	/** What the trigger has put out; a crash leaves an item that has no hash. */
	private emittedBy(execution: Execution): string[] {
		return execution
			.items('Trigger')
			.flatMap(({ json }) => (typeof json.hash === 'string' ? [json.hash] : []));
	}

	/** Notes what the latest executions are about, also those that died before any node ran. */
	private async look(): Promise<void> {
		const { rest } = this.n8n;
		await rest.settled();
		for (const execution of await rest.executionsSince(this.newest)) {
			const items = [...execution.items('Trigger'), ...execution.pending];
			const words = items.flatMap(({ json }) => JSON.stringify(json).match(/\w+/g) ?? []);
			for (const word of words) if (this.hashes.has(word)) this.seen.add(word);
			this.newest = Number(execution.summary.id);
		}
	}

	/** Some that were taken in earlier waves: a service repeats what it takes for unanswered. */
	private repeats(): string[] {
		return this.chance.some([...this.taken], 5 / Math.max(5, this.taken.size));
	}

	/** Sends a notice until it is taken. */
	private async insist(hash: string): Promise<void> {
		await until(`${hash} is taken`, async () => (await this.send(hash)) === 200, {
			withinMs: TAKEN_WITHIN_MS,
			everyMs: RESEND_MS,
		});
	}

	/** Sends a notice; a killed n8n gives no status. */
	private async send(hash: string): Promise<number | undefined> {
		this.sent += 1;
		const url = addressOf(this.n8n, WEBHOOK_ID);
		const notice = { hash, payment_status: 'paid' };
		const answer = await postJson(url, notice).catch(() => undefined);
		if (answer?.status === 200) this.taken.add(hash);
		return answer?.status;
	}
}
