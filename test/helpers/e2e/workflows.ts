import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import type { Sandbox } from '../../sandbox';
import { until } from '../until';
import { PACKAGE_NAME } from '../n8n/paths';
import { LOOPBACK } from '../n8n/processes';
import type { N8nRest, SavedCredential, SavedWorkflow, WorkflowFile } from '../n8n/rest';

type Parameters = Record<string, unknown>;

/** A node as a test writes it. */
export interface NodeSketch {
	name: string;
	type: string;
	typeVersion?: number;
	parameters?: Parameters;
	webhookId?: string;
	alwaysOutputData?: boolean;
	onError?: 'continueErrorOutput' | 'continueRegularOutput' | 'stopWorkflow';
	retryOnFail?: boolean;
	/** For nodes of n8n's own; ours get the credential of the chain. */
	credentials?: Record<string, { id: string; name: string }>;
}

export const ACTION = `${PACKAGE_NAME}.digitalSales`;
export const TRIGGER = `${PACKAGE_NAME}.digitalSalesTrigger`;

/** A running n8n, be it one process or several, and what leads from it to its sandbox. */
export interface Running {
	readonly url: string;
	readonly rest: N8nRest;
	readonly credential: SavedCredential;
	readonly sandbox: Sandbox;
}

/** A workflow whose nodes follow each other, in one chain or in several that begin for themselves. */
export function chainOf(
	name: string,
	credential: SavedCredential,
	...chains: NodeSketch[][]
): WorkflowFile {
	const nodes = chains.flat().map((sketch, index) => ({
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
		chains.flatMap((chain) =>
			chain
				.slice(0, -1)
				.map((node, index) => [
					node.name,
					{ main: [[{ node: chain[index + 1]?.name, type: 'main', index: 0 }]] },
				]),
		),
	);
	return { name, nodes, connections, settings: { executionOrder: 'v1' } };
}

/** Publishes such a workflow. */
export async function publish(
	{ rest, credential }: Running,
	name: string,
	...chains: NodeSketch[][]
): Promise<SavedWorkflow> {
	const saved = await rest.createWorkflow(chainOf(name, credential, ...chains));
	await rest.publish(saved);
	return saved;
}

/** Starts a workflow by a press of the button. */
export const BY_HAND: NodeSketch = { name: 'By hand', type: 'n8n-nodes-base.manualTrigger' };

/** Ends a chain. */
export const END: NodeSketch = { name: 'End', type: 'n8n-nodes-base.noOp' };

/** An operation of ours. */
const ours = (
	name: string,
	resource: string,
	operation: string,
	more?: Parameters,
): NodeSketch => ({
	name,
	type: ACTION,
	parameters: { resource, operation, ...more },
});

/** A trigger, and where a published workflow with it is notified. */
export function trigger(webhookId: string, parameters: Parameters = {}): NodeSketch {
	return { name: 'Trigger', type: TRIGGER, webhookId, parameters };
}
export function addressOf({ url }: Pick<Running, 'url'>, webhookId: string): string {
	return `${url}/webhook/${webhookId}/digital-sales`;
}

/** Lists the whole catalog. */
export const LIST = ours('List', 'product', 'getAll', { returnAll: true });

/** An item for each entry of a list that was posted. */
export function split(name: string, field: string): NodeSketch {
	const parameters = { fieldToSplitOut: `body.${field}`, options: {} };
	return { name, type: 'n8n-nodes-base.splitOut', parameters };
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
export const createPix = (more: Parameters = {}): NodeSketch =>
	ours('Charge', 'transaction', 'create', {
		cart: { items: [{ price: '19,90', quantity: 1, more: { title: 'Curso' } }] },
		customerName: 'Maria da Silva',
		customerEmail: 'maria@example.test',
		customerPhone: '11987654321',
		customerDocument: '529.982.247-25',
		webhooksGoTo: 'automatic',
		...more,
	});

/** Wait for Payment of the transaction before it. */
export const waitForPayment = (more: Parameters = {}): NodeSketch =>
	ours('Wait', 'transaction', 'waitForPayment', {
		transactionHash: '={{ $json.hash }}',
		...more,
	});

/** The cart of a charge: the first offer of the catalog, once. */
export function cartOf({ products }: Sandbox) {
	const offerHash = { __rl: true, mode: 'hash', value: products[0]?.offers[0]?.hash ?? '' };
	return { items: [{ offerHash, price: '19,90', quantity: 1, more: { title: 'Curso' } }] };
}

/** One item as it came. */
export type Report = Record<string, unknown>;

/** What workflows do with a sale: they report it here, and every report counts. */
export class Downstream {
	/** What arrived, oldest first, each with its moment in milliseconds of unix time. */
	private arrivals: Array<{ json: Report; at: number }> = [];

	private constructor(private readonly server: FastifyInstance) {}

	/** Listens on the loopback address. */
	static async open(): Promise<Downstream> {
		const downstream = new Downstream(fastify({ forceCloseConnections: true }));
		downstream.server.post<{ Body: Report }>('/', ({ body }) => {
			downstream.arrivals.push({ json: body, at: Date.now() });
			return {};
		});
		await downstream.server.listen({ port: 0, host: LOOPBACK });
		return downstream;
	}

	get reports(): Report[] {
		return this.arrivals.map(({ json }) => json);
	}

	/** The node that reports each item. */
	get node(): NodeSketch {
		return {
			name: 'Report',
			type: 'n8n-nodes-base.httpRequest',
			typeVersion: 4.2,
			parameters: {
				method: 'POST',
				url: `${this.server.listeningOrigin}/`,
				sendBody: true,
				specifyBody: 'json',
				jsonBody: '={{ JSON.stringify($json) }}',
				options: {},
			},
		};
	}

	/** Waits for the report on a transaction, and returns it with the moment of its arrival. */
	async reportOn(hash: string, withinMs = 120_000): Promise<{ json: Report; at: number }> {
		const find = () => this.arrivals.find(({ json }) => json.hash === hash);
		return await until(`a report on ${hash}`, find, { withinMs });
	}

	/** Waits until so many reports are there, and then whether more come. */
	async reaches(count: number): Promise<number> {
		const isThere = () => this.arrivals.length >= count;
		await until(`${count} reports`, isThere, { withinMs: 120_000 });
		let before = -1;
		while (before !== this.arrivals.length) {
			before = this.arrivals.length;
			await pause(1_500);
		}
		return before;
	}

	/** Forgets what has arrived. */
	clear(): void {
		this.arrivals = [];
	}

	/** Stops listening. */
	async close(): Promise<void> {
		await this.server.close();
	}
}
