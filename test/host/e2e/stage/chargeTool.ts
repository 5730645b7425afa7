import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { recipeOf } from '../../../../examples/source';
import { render } from '../../../../examples/source/workflow';
import { PACKAGE_NAME } from '../../n8n/paths';
import type { Sandbox } from '../../../sandbox';
import { cpf } from '../../../support/charge';

const rowsSchema = z.array(z.object({ hash: z.string() }).passthrough());

/** The name by which a model calls the tool. */
export const CHARGE = 'Charge_by_PIX';
export const CHARGE_NODE = 'Charge by PIX';
export const TOOL_TYPE = `${PACKAGE_NAME}.digitalSalesTool`;

/** What the tool says where no answer to a charge came, and where it then refuses the next. */
export const IN_DOUBT = /may already have been charged: /;
export const REFUSED = /may already have been charged(?!:)/;

/** What a model that charges fills in. */
export type Order = Record<string, unknown>;

/**
 * The charging tool of the recipe with an assistant. Its Order Reference is left out, because it is
 * made of the chat that the recipe begins with, and there is none here.
 */
export function chargeParameters(orderReference = ''): IDataObject {
	const { nodes } = render(recipeOf('ai-sales-assistant'), 'ai-sales-assistant', 'en');
	const charge = nodes.find(({ name }) => name === CHARGE_NODE);
	if (!charge) throw new Error(`The recipe has no node "${CHARGE_NODE}".`);
	return { ...charge.parameters, orderReference };
}

/** Gives an order of a customer whom nobody has charged before. */
export function ordersAt(sandbox: Sandbox): () => Order {
	const offer = sandbox.products[0]?.offers[0]?.hash;
	let customer = 100_200_300;
	return () => ({
		offer_hash: offer,
		quantity: 2,
		customer_name: 'Maria da Silva',
		customer_email: 'maria@example.test',
		customer_phone: '(11) 91234-5678',
		customer_document: cpf((customer += 1)),
	});
}

/** The same order as a model may write it a second time. */
export function otherwise(order: Order): Order {
	return {
		...order,
		customer_name: ' MARIA  da Silva ',
		customer_document: String(order.customer_document).replace(/\D/g, ''),
	};
}

/** The transaction in the rows that the tool gave; undefined where it gave none, as with an error. */
export function hashIn(rows: unknown): string | undefined {
	const read = rowsSchema.safeParse(rows);
	return read.success ? read.data[0]?.hash : undefined;
}
