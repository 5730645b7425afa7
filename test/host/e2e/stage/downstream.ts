import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOPBACK } from '../../n8n/ports';
import type { NodeSketch } from './workflows';

const POLL_MS = 50;

/** One item as it came. */
export type Report = Record<string, unknown>;

/** What workflows do with a sale: they report it here, and every report counts. */
export class Downstream {
	/** What arrived, oldest first. */
	readonly reports: Report[] = [];

	/** When each report arrived, in milliseconds of unix time. */
	readonly times: number[] = [];

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
				downstream.reports.push(JSON.parse(text) as Report);
				downstream.times.push(Date.now());
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

	/** Waits for the report on a transaction, and returns it with the moment of its arrival. */
	async reportOn(hash: string, withinMs = 120_000): Promise<{ json: Report; at: number }> {
		const deadline = Date.now() + withinMs;
		for (;;) {
			const place = this.reports.findIndex((report) => report.hash === hash);
			const json = this.reports[place];
			if (json) return { json, at: this.times[place] ?? 0 };
			if (Date.now() > deadline) throw new Error(`Nothing was reported on ${hash}`);
			await pause(POLL_MS);
		}
	}

	/** Waits until so many reports are there, and then whether more come. */
	async reaches(count: number, withinMs = 120_000, quietMs = 1_500): Promise<number> {
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
		this.times.length = 0;
	}

	/** Stops listening. */
	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}
}
