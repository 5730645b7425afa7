import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { chainOf, Downstream, type NodeSketch } from '../../helpers/e2e/workflows';
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

/** Runs a published workflow to its end, and returns the milliseconds. */
export type Side = (body?: object) => Promise<number>;

/** The real n8n in which all sides run. */
export class Bench {
	private readonly servers: Array<Sandbox | Downstream> = [];

	private constructor(readonly n8n: N8n) {}

	static async open(): Promise<Bench> {
		return new Bench(await startN8n('bench', { env: ENVIRONMENT }));
	}

	/** CPU time that n8n uses for the work, in milliseconds. */
	async cpuOf(work: () => Promise<void>): Promise<number> {
		const before = this.cpuMs();
		await work();
		return this.cpuMs() - before;
	}

	/** A platform without a limit, which is closed with the bench. */
	async sandbox(options: SandboxOptions): Promise<Sandbox> {
		const more: SandboxOptions = {
			requestsPerMinute: null,
			qrImage: 'absent',
			resendAfterSeconds: [],
		};
		const sandbox = await startSandbox({ ...more, ...options });
		this.servers.push(sandbox);
		return sandbox;
	}

	async downstream(): Promise<Downstream> {
		const downstream = await Downstream.open();
		this.servers.push(downstream);
		return downstream;
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
		Object.assign(chain.settings ?? {}, settings);
		const saved = await this.n8n.rest.createWorkflow(chain);
		await this.n8n.rest.publish(saved);
		return saved.id;
	}

	/** Publishes a chain of nodes after its own webhook. n8n keeps no successful runs. */
	async side(account: Account, ...nodes: NodeSketch[]): Promise<Side> {
		const address = randomUUID();
		const start = webhook(address, { responseMode: 'lastNode', responseData: 'noData' });
		await this.publish(account, [start, ...nodes], { saveDataSuccessExecution: 'none' });
		return async (body = {}) => {
			const begun = performance.now();
			await this.post(address, body);
			return performance.now() - begun;
		};
	}

	/** Posts to a webhook of n8n, over connections that stay open. */
	async post(address: string, body: object): Promise<void> {
		const response = await fetch(new URL(address, `${this.n8n.main.url}/webhook/`), {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`n8n answered ${response.status}: ${text}`);
	}

	async close(): Promise<void> {
		await this.n8n.close();
		for (const server of this.servers) await server.close();
	}

	private cpuMs(): number {
		const stat = readFileSync(`/proc/${this.n8n.main.pid}/stat`, 'utf8');
		// The second field is the name of the program in brackets, and may contain blanks.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		// User and system time, in hundredths of a second on current Linux.
		return (Number(fields[11]) + Number(fields[12])) * 10;
	}
}
