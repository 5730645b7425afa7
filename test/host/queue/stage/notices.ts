import { setTimeout as pause } from 'node:timers/promises';
import { chainOf, type Downstream, TRIGGER } from '../../e2e/stage/workflows';
import { postJson } from '../../../support/http';
import type { Cluster } from './cluster';

const POLL_MS = 100;
const ENDED_WITHIN_MS = 60_000;
/** What the answer 503 asks for (Retry-After). */
const RESENT_AFTER_MS = 5_000;

/** What became of the executions that notices have started. */
export interface Started {
	/** Whose trigger handed its sale on. */
	withItem: number;
	/** Which ended well without an item: the sale was handed on before. */
	withoutItem: number;
	/** The errors of all others. */
	errors: string[];
}

/** A published trigger whose sales are reported downstream, and the notices that come to it. */
export class Notices {
	private readonly seen = new Set<string>();
	private resendings = 0;

	private constructor(
		private readonly cluster: Cluster,
		private readonly downstream: Downstream,
		private readonly name: string,
		private readonly workflowId: string,
	) {}

	static async publish(cluster: Cluster, downstream: Downstream, name: string): Promise<Notices> {
		const trigger = { name: 'Trigger', type: TRIGGER, webhookId: `once-${name}` };
		const workflow = chainOf(name, cluster.credential, [trigger, downstream.node]);
		const saved = await cluster.rest.createWorkflow(workflow);
		await cluster.rest.publish(saved);
		return new Notices(cluster, downstream, name, saved.id);
	}

	/** The trigger's address at each of the webhook processes, the public one first. */
	get urls(): string[] {
		return this.cluster.atEach(`${this.cluster.url}/webhook/once-${this.name}/digital-sales`);
	}

	/** How many notices were answered 503, and came again. */
	get resent(): number {
		return this.resendings;
	}

	/** Says that a sale is paid, until it is answered 200, as the service does it. */
	async send(url: string, hash: string): Promise<void> {
		for (;;) {
			const { status } = await postJson(url, { hash, payment_status: 'paid' });
			if (status === 200) return;
			if (status !== 503) throw new Error(`Answered ${status}`);
			this.resendings += 1;
			await pause(RESENT_AFTER_MS);
		}
	}

	/** The same so many times at once, to one address after the other. */
	async storm(count: number, urls: string[], hash: string): Promise<void> {
		await Promise.all(
			Array.from(
				{ length: count },
				async (_, nth) => await this.send(urls[nth % urls.length] ?? '', hash),
			),
		);
	}

	/** What became of all executions that have started since this was asked last. */
	async started(): Promise<Started> {
		const started: Started = { withItem: 0, withoutItem: 0, errors: [] };
		for (const id of await this.allEnded()) {
			this.seen.add(id);
			const execution = await this.cluster.rest.ended(id);
			const { error, summary } = execution;
			if (summary.status !== 'success') started.errors.push(error ?? summary.status);
			else if (execution.items('Trigger').length > 0) started.withItem += 1;
			else started.withoutItem += 1;
		}
		return started;
	}

	/** How often each of the sales was reported. */
	reportsOn(hashes: string[]): number[] {
		const reported = this.downstream.reports.map(({ hash }) => hash);
		return hashes.map((hash) => reported.filter((one) => one === hash).length);
	}

	private async allEnded(): Promise<string[]> {
		const deadline = Date.now() + ENDED_WITHIN_MS;
		for (;;) {
			const executions = await this.cluster.rest.executions(this.workflowId);
			const fresh = executions.filter(({ id }) => !this.seen.has(id));
			if (fresh.every(({ stoppedAt }) => stoppedAt !== null)) return fresh.map(({ id }) => id);
			if (Date.now() > deadline) throw new Error('Some executions have not ended.');
			await pause(POLL_MS);
		}
	}
}

/** The same in words for a table. */
export function outcomeOf({ withItem, withoutItem, errors }: Started): string {
	const failed = errors.length === 0 ? '' : `, ${errors.length} failed (${[...new Set(errors)]})`;
	return `${withItem + withoutItem + errors.length} executions: ${withItem} with the sale, ${withoutItem} without an item${failed}`;
}
