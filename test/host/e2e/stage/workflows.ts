import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sandbox } from '../../../sandbox';
import { PACKAGE_NAME } from '../../n8n/paths';
import { LOOPBACK } from '../../n8n/processes';
import type { SavedCredential, WorkflowFile } from '../../n8n/rest';

type Parameters = Record<string, unknown>;

/** A node as a test writes it. */
export interface NodeSketch {
	name: string;
	type: string;
	typeVersion?: number;
	parameters?: Parameters;
	webhookId?: string;
	onError?: 'continueErrorOutput';
	/** For nodes of n8n's own; ours get the credential of the chain. */
	credentials?: Record<string, { id: string; name: string }>;
}

export const ACTION = `${PACKAGE_NAME}.digitalSales`;
export const TRIGGER = `${PACKAGE_NAME}.digitalSalesTrigger`;

/** A workflow whose nodes follow each other in one chain. */
export function chainOf(
	name: string,
	credential: SavedCredential,
	sketches: NodeSketch[],
): WorkflowFile {
	const nodes = sketches.map((sketch, index) => ({
		id: randomUUID(),
		typeVersion: sketch.type === TRIGGER ? 2 : 1,
		position: [index * 220, 0],
		parameters: {},
		...sketch,
		...(sketch.type.startsWith(PACKAGE_NAME)
			? { credentials: { digitalSalesApi: { id: credential.id, name: credential.name } } }
			: {}),
	}));
	const connections = Object.fromEntries(
		nodes
			.slice(0, -1)
			.map((node, index) => [
				node.name,
				{ main: [[{ node: nodes[index + 1]?.name, type: 'main', index: 0 }]] },
			]),
	);
	return { name, nodes, connections, settings: { executionOrder: 'v1' } };
}

/** Starts a published workflow with a POST, as many times as one likes. */
export function webStart(path: string): NodeSketch {
	return {
		name: 'Start',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: randomUUID(),
		parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
	};
}

/** Create PIX for a customer made up for the test. */
export function createPix(more: Parameters = {}): NodeSketch {
	return {
		name: 'Charge',
		type: ACTION,
		parameters: {
			resource: 'transaction',
			operation: 'create',
			cart: { items: [{ price: '19,90', quantity: 1, more: { title: 'Curso' } }] },
			customerName: 'Maria da Silva',
			customerEmail: 'maria@example.test',
			customerPhone: '11987654321',
			customerDocument: '529.982.247-25',
			notify: 'automatic',
			...more,
		},
	};
}

/** Wait for Payment of the transaction before it. */
export function waitForPayment(more: Parameters = {}): NodeSketch {
	return {
		name: 'Wait',
		type: ACTION,
		parameters: {
			resource: 'transaction',
			operation: 'waitForPayment',
			transactionHash: '={{ $json.hash }}',
			...more,
		},
	};
}

/** The cart of a charge: the first offer of the catalog, once. */
export function cartOf({ products }: Sandbox) {
	const offerHash = { __rl: true, mode: 'hash', value: products[0]?.offers[0]?.hash ?? '' };
	return {
		items: [{ offerHash, price: '19,90', quantity: 1, more: { title: 'Curso' } }],
	};
}

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
