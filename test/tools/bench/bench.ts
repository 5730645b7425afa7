import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { chainOf, type NodeSketch, webStart } from '../../helpers/e2e/workflows';
import { startN8n, type N8n } from '../../helpers/n8n/n8n';
import { CREDENTIAL_TYPE } from '../../helpers/n8n/paths';
import type { SavedCredential } from '../../helpers/n8n/rest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';

/** Of n8n. Nothing is sent there. */
export const PUBLIC = 'https://n8n.example.com/';
/** It has a trigger that does nothing. */
const ENVIRONMENT = {
	N8N_CUSTOM_EXTENSIONS: path.join(__dirname, 'floor'),
	N8N_WEBHOOK_URL: PUBLIC,
};

/** The real n8n in which all sides run. */
export class Bench {
	private readonly sandboxes: Sandbox[] = [];

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
	async sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
		const unlimited: SandboxOptions = { requestsPerMinute: null, resendAfterSeconds: [] };
		const sandbox = await startSandbox({ ...unlimited, qrImage: 'absent', ...options });
		this.sandboxes.push(sandbox);
		return sandbox;
	}

	/** The credentials of both sides. */
	async account({ baseUrl, apiToken }: Pick<Sandbox, 'baseUrl' | 'apiToken'>) {
		const { rest } = this.n8n;
		const name = `Bench ${randomUUID()}`;
		const ours = await rest.createCredential(name, CREDENTIAL_TYPE, { baseUrl, apiToken });
		const bearer = await rest.createCredential(name, 'httpBearerAuth', { token: apiToken });
		return { baseUrl, ours, bearer };
	}

	/** Publishes a chain of nodes, and returns the id of its workflow. n8n keeps no successful runs of a quiet one. */
	async publish(
		credential: SavedCredential,
		nodes: NodeSketch[],
		isQuiet = false,
	): Promise<string> {
		const chain = chainOf(randomUUID(), credential, nodes);
		if (isQuiet) chain.settings = { ...chain.settings, saveDataSuccessExecution: 'none' };
		const saved = await this.n8n.rest.createWorkflow(chain);
		await this.n8n.rest.publish(saved);
		return saved.id;
	}

	/** Publishes a chain of nodes that a webhook runs to its end. The returned function does, and returns the milliseconds. */
	async side({ ours }: { ours: SavedCredential }, ...nodes: NodeSketch[]) {
		const address = randomUUID();
		const start = webStart(address, { responseMode: 'lastNode', responseData: 'noData' });
		await this.publish(ours, [start, ...nodes], true);
		return async (body: object = {}): Promise<number> => {
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
		for (const sandbox of this.sandboxes) await sandbox.close();
	}

	private cpuMs(): number {
		const stat = readFileSync(`/proc/${this.n8n.main.pid}/stat`, 'utf8');
		// The second field is the name of the program in brackets, and may contain blanks.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		// User and system time, in hundredths of a second on current Linux.
		return (Number(fields[11]) + Number(fields[12])) * 10;
	}
}
