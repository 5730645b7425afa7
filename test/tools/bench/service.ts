import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOPBACK } from '../../helpers/n8n/processes';
import { startSandbox } from '../../sandbox';
import { readShape } from '../../sandbox/shapes';
import { transactionAt } from '../../helpers/charge';

/**
 * A fast simulation of the service, for rows in which the sandbox would be too slow. It returns any transaction as the
 * sandbox does, and counts requests.
 */
export class LeanService {
	readonly apiToken = 'test-bench-token-1234567890';

	/** The most requests in flight at the same time since {@link resetCounts}. */
	mostAtOnce = 0;
	/** Milliseconds before each answer. */
	latencyMs = 0;

	private atOnce = 0;
	private readonly server = createServer((request, response) => {
		void this.answer(request, response);
	});

	private constructor(
		/** A paid transaction as JSON, and its hash. */
		private readonly paid: string,
		private readonly hash: string,
	) {}

	static async open(): Promise<LeanService> {
		const sandbox = await startSandbox({ qrImage: 'absent' });
		const sold = await transactionAt(sandbox);
		await sandbox.close();
		const paid = JSON.stringify(readShape({ ...sold, payment_status: 'paid' }));
		const service = new LeanService(paid, sold.hash);
		await new Promise<void>((resolve) => service.server.listen(0, LOOPBACK, resolve));
		return service;
	}

	get baseUrl(): string {
		const { port } = this.server.address() as AddressInfo;
		return `http://${LOOPBACK}:${port}/public/v1`;
	}

	resetCounts(): void {
		this.mostAtOnce = this.atOnce;
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}

	private async answer({ headers, url = '' }: IncomingMessage, response: ServerResponse) {
		this.atOnce++;
		this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
		if (this.latencyMs > 0) await pause(this.latencyMs);
		const isKnown = headers.authorization === `Bearer ${this.apiToken}`;
		const hash = isKnown ? /\/transactions\/([^/?]+)$/.exec(url)?.[1] : undefined;
		const body = hash === undefined ? '' : this.paid.replaceAll(this.hash, hash);
		response.writeHead(body === '' ? 404 : 200, {
			'content-type': 'application/json',
			'content-length': Buffer.byteLength(body),
		});
		this.atOnce--;
		response.end(body);
	}
}
