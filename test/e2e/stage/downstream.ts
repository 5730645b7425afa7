import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOPBACK } from '../../n8n/ports';
import type { NodeSketch } from './workflows';

const POLL_MS = 50;

/** What workflows do with a sale: they report it here, and every report counts. */
export class Downstream {
	/** What arrived, oldest first. */
	readonly reports: Array<Record<string, unknown>> = [];

	private constructor(
		private readonly server: ReturnType<typeof createServer>,
		private readonly url: string,
	) {}

	/** Listens on the loopback address. */
	static async open(): Promise<Downstream> {
		const server = createServer((request, response) => {
			const chunks: Buffer[] = [];
			request.on('data', (chunk: Buffer) => chunks.push(chunk));
			request.on('end', () => {
				const text = Buffer.concat(chunks).toString('utf8');
				downstream.reports.push(JSON.parse(text) as Record<string, unknown>);
				response.end('{}');
			});
		});
		await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
		const { port } = server.address() as AddressInfo;
		const downstream = new Downstream(server, `http://${LOOPBACK}:${port}/`);
		return downstream;
	}

	/** The node that reports each item. */
	get node(): NodeSketch {
		return {
			name: 'Report',
			type: 'n8n-nodes-base.httpRequest',
			typeVersion: 4.2,
			parameters: {
				method: 'POST',
				url: this.url,
				sendBody: true,
				specifyBody: 'json',
				jsonBody: '={{ JSON.stringify($json) }}',
				options: {},
			},
		};
	}

	/** Waits until so many reports are there, and then whether more come. */
	async reaches(count: number, withinMs = 60_000, quietMs = 1_500): Promise<number> {
		const deadline = Date.now() + withinMs;
		while (this.reports.length < count && Date.now() < deadline) await pause(POLL_MS);
		let before = -1;
		while (before !== this.reports.length) {
			before = this.reports.length;
			await pause(quietMs);
		}
		return this.reports.length;
	}

	/** Forgets what has arrived. */
	clear(): void {
		this.reports.length = 0;
	}

	/** Stops listening. */
	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}
}
