import type { INodeParameters } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import { inOptions } from '../inOptions';
import type { Sandbox } from '../../sandbox';
import { until } from '../until';
import { PACKAGE_NAME } from '../n8n/paths';
import { LOOPBACK } from '../n8n/processes';
import type { N8nRest, SavedCredential, SavedWorkflow, WorkflowFile } from '../n8n/rest';

type Parameters = INodeParameters;

export interface NodeSketch {
	name: string;
	type: string;
	typeVersion?: number;
	parameters?: Parameters;
	webhookId?: string;
	alwaysOutputData?: boolean;
	disabled?: boolean;
	onError?: 'continueErrorOutput' | 'continueRegularOutput' | 'stopWorkflow';
	retryOnFail?: boolean;
	/** For n8n's own nodes. The nodes of the package get the credential of the chain. */
	credentials?: Record<string, { id: string; name: string }>;
}

export const ACTION = `${PACKAGE_NAME}.digitalSales`;
export const TRIGGER = `${PACKAGE_NAME}.digitalSalesTrigger`;

/** An n8n of one or more processes, and its sandbox. */
export interface Running {
	readonly url: string;
	readonly rest: N8nRest;
	readonly credential: SavedCredential;
	readonly sandbox: Sandbox;
}

/** Each chain begins with a trigger of its own. Wait for Payment leads to the next node by both of its outputs. */
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
			chain.slice(0, -1).map((node, index) => {
				const next = [{ node: chain[index + 1]?.name, type: 'main', index: 0 }];
				const isWait = node.parameters?.operation === 'waitForPayment';
				return [node.name, { main: isWait ? [next, next] : [next] }];
			}),
		),
	);
	return { name, nodes, connections, settings: { executionOrder: 'v1' } };
}

export async function publish(
	{ rest, credential }: Pick<Running, 'rest' | 'credential'>,
	name: string,
	...chains: NodeSketch[][]
): Promise<SavedWorkflow> {
	const saved = await rest.createWorkflow(chainOf(name, credential, ...chains));
	await rest.publish(saved);
	return saved;
}

export const BY_HAND: NodeSketch = { name: 'By hand', type: 'n8n-nodes-base.manualTrigger' };

export const END: NodeSketch = { name: 'End', type: 'n8n-nodes-base.noOp' };

export const action = (
	name: string,
	resource: string,
	operation: string,
	more?: Parameters,
): NodeSketch => ({
	name,
	type: ACTION,
	parameters: { resource, operation, ...more },
});

export function trigger(webhookId: string, parameters: Parameters = {}): NodeSketch {
	return { name: 'Trigger', type: TRIGGER, webhookId, parameters };
}
export function addressOf({ url }: Pick<Running, 'url'>, webhookId: string): string {
	return `${url}/webhook/${webhookId}/digital-sales`;
}

export const LIST = action('List', 'product', 'getAll', { returnAll: true });

/** Makes an item of each entry of a list. A list that was posted is in `body`. */
export function split(name: string, fieldToSplitOut: string): NodeSketch {
	const parameters = { fieldToSplitOut, options: {} };
	return { name, type: 'n8n-nodes-base.splitOut', parameters };
}

/** Each POST starts an execution. */
export function webStart(path: string, more: Parameters = {}): NodeSketch {
	return {
		name: 'Start',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: randomUUID(),
		parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {}, ...more },
	};
}

export const createPix = (more: Parameters = {}): NodeSketch =>
	action('Charge', 'transaction', 'create', {
		cart: { items: [{ price: '19,90', quantity: 1, more: { title: 'Curso' } }] },
		customerName: 'Maria da Silva',
		customerEmail: 'maria@example.test',
		customerPhone: '11987654321',
		customerDocument: '529.982.247-25',
		...inOptions({ webhooksGoTo: 'automatic', ...more }),
	});

/** For the transaction of the input item. */
export const waitForPayment = (more: Parameters = {}): NodeSketch =>
	action('Wait', 'transaction', 'waitForPayment', {
		transactionHash: '={{ $json.hash }}',
		...inOptions({ ...more }),
	});

/** The first offer of the catalog. */
export function cartOf({ products }: Sandbox) {
	const offerHash = { __rl: true, mode: 'hash', value: products[0]?.offers[0]?.hash ?? '' };
	return { items: [{ offerHash, price: '19,90', quantity: 1, more: { title: 'Curso' } }] };
}

export type Report = Record<string, unknown>;

/** Workflows report each sale here, and every report counts. */
export class Downstream {
	/** Oldest first. `at` is in milliseconds of Unix time. */
	private arrivals: Array<{ json: Report; at: number }> = [];

	private constructor(private readonly server: FastifyInstance) {}

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

	async reportOn(hash: string, withinMs = 120_000): Promise<{ json: Report; at: number }> {
		const find = () => this.arrivals.find(({ json }) => json.hash === hash);
		return await until(`a report on ${hash}`, find, { withinMs });
	}

	/** Waits for `count` reports, then for further ones. Returns how many arrived. */
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

	clear(): void {
		this.arrivals = [];
	}

	async close(): Promise<void> {
		await this.server.close();
	}
}
