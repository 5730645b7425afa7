import { randomUUID } from 'node:crypto';
import { PACKAGE_NAME } from '../../n8n/paths';
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
