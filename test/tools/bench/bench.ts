import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { chainOf, type NodeSketch } from '../../helpers/e2e/workflows';
import { startN8n, type N8n } from '../../helpers/n8n/n8n';
import { CREDENTIAL_TYPE } from '../../helpers/n8n/paths';
import type { SavedWorkflow, WorkflowFile } from '../../helpers/n8n/rest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { until } from '../../helpers/until';
import { LeanService } from './service';
import { startAndAnswer } from './workflows';

/** A trigger that does nothing. */
const WITH_FLOOR = { N8N_CUSTOM_EXTENSIONS: path.join(__dirname, 'floor') };

/** An account of a simulated service, and the credentials of both sides for it. */
type BenchAccount = Awaited<ReturnType<Bench['account']>>;

/** A published workflow that is compared with others. It answers when it has ended. */
export interface Side {
	/** Runs it to its end, and returns the milliseconds. */
	run(body?: object): Promise<number>;
	/** Runs it and returns the items of its last node. */
	items(body?: object): Promise<unknown[]>;
}

/** The real n8n in which both sides run, and the simulated services. */
export class Bench {
	private readonly sandboxes: Sandbox[] = [];

	private constructor(
		readonly n8n: N8n,
		readonly lean: LeanService,
	) {}

	static async open(): Promise<Bench> {
		return new Bench(await startN8n('bench', { env: WITH_FLOOR }), await LeanService.open());
	}

	/** CPU time that n8n has used so far, in milliseconds. */
	cpuMs(): number {
		const stat = readFileSync(`/proc/${this.n8n.main.pid}/stat`, 'utf8');
		// The second field is the name of the program in brackets, and may contain blanks.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		// User and system time, in hundredths of a second on current Linux.
		return (Number(fields[11]) + Number(fields[12])) * 10;
	}

	/** A sandbox that is closed with the bench. */
	async sandbox(options: SandboxOptions): Promise<Sandbox> {
		const sandbox = await startSandbox(options);
		this.sandboxes.push(sandbox);
		return sandbox;
	}

	/** Saves the credentials of both sides for an account. */
	async account({ baseUrl, apiToken }: { baseUrl: string; apiToken: string }) {
		const { rest } = this.n8n;
		const name = `Bench ${randomUUID()}`;
		const ours = await rest.createCredential(name, CREDENTIAL_TYPE, { baseUrl, apiToken });
		const bearer = await rest.createCredential(name, 'httpBearerAuth', { token: apiToken });
		return { baseUrl, ours, bearer };
	}

	/** Publishes a chain of nodes after its own webhook. n8n keeps no successful runs. */
	async side(account: BenchAccount, nodes: NodeSketch[]): Promise<Side> {
		const publish = async (answer: 'noData' | 'allEntries') => {
			const address = randomUUID();
			const chain = chainOf(address, account.ours, [startAndAnswer(address, answer), ...nodes]);
			const settings = { ...chain.settings, saveDataSuccessExecution: 'none' };
			await this.publish({ ...chain, settings });
			return async (body: object): Promise<string> => {
				const { status, text } = await post(`${this.n8n.url}/webhook/${address}`, body);
				if (status !== 200) throw new Error(`A run failed (${status}): ${text}`);
				return text;
			};
		};
		const silent = await publish('noData');
		const telling = await publish('allEntries');
		return {
			run: async (body = {}) => {
				const start = performance.now();
				await silent(body);
				return performance.now() - start;
			},
			items: async (body = {}) => [JSON.parse(await telling(body))].flat(),
		};
	}

	async publish(workflow: WorkflowFile): Promise<SavedWorkflow> {
		const saved = await this.n8n.rest.createWorkflow(workflow);
		await this.n8n.rest.publish(saved);
		return saved;
	}

	/**
	 * Restarts n8n, so that its memory is empty.
	 *
	 * @param url of a published workflow, which listens a moment after n8n is ready
	 */
	async restart(url: string, env: Record<string, string> = {}): Promise<void> {
		await this.n8n.restart({ ...WITH_FLOOR, ...env });
		// The first request may use a broken connection to the earlier n8n.
		const listens = async (): Promise<boolean> =>
			await post(url, {}).then(
				({ status }) => status !== 404,
				() => false,
			);
		await until('a published workflow listens', listens);
	}

	async close(): Promise<void> {
		await this.n8n.close();
		await this.lean.close();
		for (const sandbox of this.sandboxes) await sandbox.close();
	}
}

/** Keeps connections open, unlike the helper of the tests. */
export async function post(url: string, body: object): Promise<{ status: number; text: string }> {
	const response = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	return { status: response.status, text: await response.text() };
}

/** Checks that all sides return the same items in the same order. */
export async function checkSame(sides: readonly Side[], count: number, body?: object) {
	const lists: unknown[][] = [];
	for (const side of sides) lists.push(await side.items(body));
	if (lists[0]?.length !== count) throw new Error(`Not ${count} items, but ${lists[0]?.length}.`);
	if (!lists.every((items) => isDeepStrictEqual(items, lists[0]))) {
		throw new Error('The sides put out different items.');
	}
}

/**
 * Runs the sides in turn, so that other work of the machine affects all of them, and returns the result of each round
 * of each side. Every second round has the reverse order.
 */
export async function inTurn<S, T>(
	sides: readonly S[],
	rounds: { warmUps: number; counted: number },
	run: (side: S) => Promise<T>,
): Promise<T[][]> {
	const results: T[][] = sides.map(() => []);
	for (let round = -rounds.warmUps; round < rounds.counted; round++) {
		const order = [...sides.entries()];
		if (round % 2 !== 0) order.reverse();
		for (const [place, side] of order) {
			const result = await run(side);
			if (round >= 0) results[place]?.push(result);
		}
	}
	return results;
}
