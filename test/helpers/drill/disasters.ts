import { setTimeout as pause } from 'node:timers/promises';
import type { RecordedRequest } from '../../sandbox/parts';
import type { Member, N8n } from '../n8n/n8n';
import type { Cluster } from '../queue/cluster';
import { until } from '../until';
import type { Disaster } from './plan';

const BUSY_WITHIN_MS = 10_000;
const RESTARTED_WITHIN_MS = 600_000;
const START_AGAIN_AFTER_MS = 2_000;

/** Kills and restarts the processes of n8n and their servers. */
export class Disasters {
	/** Requests under way at the kills. */
	readonly underWay = { charges: 0, reads: 0 };
	private readonly restarts: Array<Promise<void>> = [];
	private readonly down = new Set<Member>();

	constructor(private readonly n8n: N8n & Partial<Cluster>) {
		for (const member of n8n.members) {
			// A process that ends while it starts is started again by the restart that is under way.
			member.onDeath = () => {
				if (!this.down.has(member)) this.restarts.push(this.restart(member));
			};
		}
	}

	async strike(disaster: Disaster): Promise<void> {
		const { redis, postgres, members } = this.n8n;
		if (disaster.kind === 'restart') {
			// An n8n that loses its database while it starts neither starts nor ends.
			while (this.down.size > 0) await pause(500);
			return await { redis, postgres }[disaster.server]?.restart();
		}
		const isBusy = () => this.requestsUnderWay().length > 0;
		await until('a request is under way', isBusy, { withinMs: BUSY_WITHIN_MS }).catch(
			() => undefined,
		);
		await pause(disaster.afterMs);
		await this.waitUntilUp();
		const up = members.filter((member) => !this.down.has(member));
		const member = up[Math.floor(disaster.which * up.length)];
		if (!member) return;
		const underWay = this.requestsUnderWay();
		this.down.add(member);
		await member.kill();
		this.underWay.charges += underWay.filter(({ method }) => method === 'POST').length;
		this.underWay.reads += underWay.filter(({ method }) => method === 'GET').length;
		this.restarts.push(pause(disaster.downMs).then(async () => await this.restart(member)));
	}

	private requestsUnderWay(): RecordedRequest[] {
		return this.n8n.sandbox.requests.filter(({ durationMs }) => durationMs === null);
	}

	/** Starts a process, and again while its servers are down. */
	async restart(member: Member): Promise<void> {
		this.down.add(member);
		const start = async () =>
			await member
				.start()
				.then(() => true)
				.catch(() => false);
		const options = { withinMs: RESTARTED_WITHIN_MS, everyMs: START_AGAIN_AFTER_MS };
		await until(`${member.name} starts again`, start, options);
		this.down.delete(member);
	}

	async waitUntilUp(): Promise<void> {
		const isUp = () => this.down.size < this.n8n.members.length;
		await until('a process is up', isUp, { withinMs: RESTARTED_WITHIN_MS });
	}

	async areOver(): Promise<void> {
		await Promise.all(this.restarts);
	}

	/** Later, the processes die because their servers are stopped. */
	end(): void {
		for (const member of this.n8n.members) member.onDeath = () => undefined;
	}
}
