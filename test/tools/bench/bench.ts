import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { chainOf, type NodeSketch } from '../../helpers/e2e/workflows';
import { startN8n, type N8n } from '../../helpers/n8n/n8n';
import { CREDENTIAL_TYPE } from '../../helpers/n8n/paths';
import type { SavedCredential } from '../../helpers/n8n/rest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { webhook } from './nodes';

/** A trigger that does nothing, and a public address, to which nothing is sent. */
const ENVIRONMENT = {
	N8N_CUSTOM_EXTENSIONS: path.join(__dirname, 'floor'),
	N8N_WEBHOOK_URL: 'https://n8n.example.com/',
};

/** The credentials of both sides for an account of a simulated platform. */
export interface Account {
	baseUrl: string;
	ours: SavedCredential;
	bearer: SavedCredential;
}

/** A published workflow that answers when it has ended. */
export interface Side {
	/** Runs it to its end, and returns the milliseconds. */
	run(body?: object): Promise<number>;
	/** Runs it, and returns the items of its last node. */
	items(body?: object): Promise<unknown[]>;
}

/** The real n8n in which all sides run. */
export class Bench {
	private readonly sandboxes: Sandbox[] = [];

	private constructor(readonly n8n: N8n) {}

	static async open(): Promise<Bench> {
		return new Bench(await startN8n('bench', { env: ENVIRONMENT }));
	}

	/** CPU time that n8n has used so far, in milliseconds. */
	cpuMs(): number {
		const stat = readFileSync(`/proc/${this.n8n.main.pid}/stat`, 'utf8');
		// The second field is the name of the program in brackets, and may contain blanks.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		// User and system time, in hundredths of a second on current Linux.
		return (Number(fields[11]) + Number(fields[12])) * 10;
	}

	/** A platform without a limit, which is closed with the bench. */
	async sandbox(options: SandboxOptions): Promise<Sandbox> {
		const sandbox = await startSandbox({
			requestsPerMinute: null,
			qrImage: 'absent',
			resendAfterSeconds: [],
			...options,
		});
		this.sandboxes.push(sandbox);
		return sandbox;
	}

	async account({ baseUrl, apiToken }: { baseUrl: string; apiToken: string }): Promise<Account> {
		const { rest } = this.n8n;
		const name = `Bench ${randomUUID()}`;
		const ours = await rest.createCredential(name, CREDENTIAL_TYPE, { baseUrl, apiToken });
		const bearer = await rest.createCredential(name, 'httpBearerAuth', { token: apiToken });
		return { baseUrl, ours, bearer };
	}

	/** Publishes a chain of nodes, and returns the id of its workflow. */
	async publish({ ours }: Account, nodes: NodeSketch[], settings = {}): Promise<string> {
		const chain = chainOf(randomUUID(), ours, nodes);
		const saved = await this.n8n.rest.createWorkflow({
			...chain,
			settings: { ...chain.settings, ...settings },
		});
		await this.n8n.rest.publish(saved);
		return saved.id;
	}

	/** Publishes a chain of nodes after its own webhook. n8n keeps no successful runs. */
	async side(account: Account, nodes: NodeSketch[]): Promise<Side> {
		const publish = async (responseData: 'noData' | 'allEntries') => {
			const address = randomUUID();
			const start = webhook(address, { responseMode: 'lastNode', responseData });
			await this.publish(account, [start, ...nodes], { saveDataSuccessExecution: 'none' });
			return async (body: object): Promise<string> => await this.post(address, body);
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

	/** Posts to a webhook of n8n, over connections that stay open, and returns the text of the answer. */
	async post(address: string, body: object): Promise<string> {
		const response = await fetch(`${this.n8n.main.url}/webhook/${address}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`n8n answered ${response.status}: ${text}`);
		return text;
	}

	async close(): Promise<void> {
		await this.n8n.close();
		for (const sandbox of this.sandboxes) await sandbox.close();
	}
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
