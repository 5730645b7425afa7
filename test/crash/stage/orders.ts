import { cpf } from 'cpf-cnpj-validator';
import { z } from 'zod';
import type { Execution } from '../../n8n/execution';
import type { SavedCredential, WorkflowFile } from '../../n8n/rest';
import type { Sandbox } from '../../sandbox';
import { chainOf, createPix, webStart, type NodeSketch } from '../../e2e/stage/workflows';
import { cartOf } from '../../queue/stage/cart';

const FIRST_CUSTOMER = 100_200_300;

const orderSchema = z.object({ document: z.string(), reference: z.string().optional() });
const askedSchema = z.object({ body: z.object({ orders: z.array(orderSchema) }) });

/** What a customer has ordered; each order has a customer of its own, known by the document. */
export type Order = z.infer<typeof orderSchema>;

/** So many orders, every other one with a reference. */
export function makeOrders(count: number): Order[] {
	return Array.from({ length: count }, (_, nth) => ({
		document: documentOf(nth),
		...(nth % 2 === 0 ? { reference: `order-${nth}` } : {}),
	}));
}

/** A CPF with the right check digits. */
function documentOf(nth: number): string {
	const digits = String(FIRST_CUSTOMER + nth * 1_234_567);
	const first = `${digits}${cpf.verifierDigit(digits)}`;
	return `${first}${cpf.verifierDigit(first)}`;
}

/** Charges each of the orders posted to it, and is busy for a moment afterwards. */
export function chargeWorkflow(
	path: string,
	credential: SavedCredential,
	sandbox: Sandbox,
	more: { orderReference?: string } = {},
): WorkflowFile {
	const split: NodeSketch = {
		name: 'Split',
		type: 'n8n-nodes-base.splitOut',
		parameters: { fieldToSplitOut: 'body.orders', options: {} },
	};
	const charge = createPix({
		notify: 'none',
		cart: cartOf(sandbox),
		customerDocument: '={{ $json.document }}',
		additionalFields: more,
	});
	return chainOf(path, credential, [webStart(path), split, charge, busy(0.5)]);
}

/** A node after the one that counts: a crash in it comes when that one has done its work. */
export function busy(seconds: number): NodeSketch {
	return {
		name: 'Busy',
		type: 'n8n-nodes-base.wait',
		typeVersion: 1.1,
		parameters: { resume: 'timeInterval', amount: seconds, unit: 'seconds' },
	};
}

/** The orders that an execution was asked to charge, wherever it has stopped. */
export function ordersOf(execution: Execution): Order[] {
	const items = [...execution.items('Start'), ...execution.pending];
	for (const { json } of items) {
		const asked = askedSchema.safeParse(json);
		if (asked.success) return asked.data.body.orders;
	}
	return items.flatMap(({ json }) => orderSchema.safeParse(json).data ?? []);
}

/** The hashes that Create PIX has put out, in their order; a crash leaves items that have none. */
export function chargedIn(execution: Execution): string[] {
	return execution
		.items('Charge')
		.flatMap(({ json }) => (typeof json.hash === 'string' ? [json.hash] : []));
}
