import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../chance';
import type { Member, N8n } from '../n8n/n8n';
import type { Cluster, Server } from '../queue/cluster';
import { until } from '../until';

const BUSY = { withinMs: 10_000 };
const UP = { withinMs: 600_000, everyMs: 2_000 };

/** Kills the processes of n8n, and restarts them and their servers. */
export class Disasters {
	/** How many requests were under way at the kills. */
	struck = 0;
	private readonly down = new Set<Member>();

	constructor(
		private readonly n8n: N8n & Partial<Cluster>,
		private readonly chance: Chance,
	) {
		for (const member of n8n.members) {
			// A process that ends while it starts is started again by the restart that is under way.
			member.onDeath = () => {
				if (!this.down.has(member)) void this.restart(member);
			};
		}
	}

	/** Strikes a process or a server while a request is under way. */
	async strike(): Promise<void> {
		const { chance } = this;
		const { members, redis, postgres } = this.n8n;
		const servers = [redis, postgres].filter((server) => server !== undefined);
		const struck = chance.oneOf<Member | Server>([...members, ...servers]);
		const afterMs = chance.within(0, 1_000);
		const downMs = chance.within(0, 8_000);

		const isBusy = () => this.requestsUnderWay() > 0;
		await until('a request is under way', isBusy, BUSY).catch(() => undefined);
		await pause(afterMs);

		if ('restart' in struck) {
			// An n8n that loses its database while it starts neither starts nor ends.
			await this.allAreUp();
			return await struck.restart();
		}
		if (this.down.has(struck)) return;
		this.struck += this.requestsUnderWay();
		await struck.kill();
		void this.restart(struck, downMs);
	}

	async allAreUp(): Promise<void> {
		await until('all processes are up', () => this.down.size === 0, UP);
	}

	/** Starts a process, and again while its servers are down. One that does not start stays down. */
	private async restart(member: Member, afterMs = 0): Promise<void> {
		this.down.add(member);
		await pause(afterMs);
		const start = async (): Promise<boolean> => {
			await member.start();
			return this.down.delete(member);
		};
		const isUp = async () => await start().catch(() => false);
		await until(`${member.name} starts again`, isUp, UP).catch(() => undefined);
	}

	private requestsUnderWay(): number {
		return this.n8n.sandbox.requests.filter(({ durationMs }) => durationMs === null).length;
	}
}
