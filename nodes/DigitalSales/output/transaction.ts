import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Transaction } from '../api/schemas/transaction';
import { isPaid, isTooLateToPay } from '../domain/paymentStatus';
import { inReais } from '../domain/money';

type Value = string | number | null | undefined;

/** Every flat field of a transaction, in the order in which an item has them. Amounts are in reais, or under the
 * service's own name in integer cents. */
const FIELDS = {
	hash: ({ hash }) => hash,
	payment_status: ({ payment_status: status }) => status,
	amount_reais: ({ amount }) => inReais(amount),
	amount: ({ amount }) => amount,
	amount_liquid_reais: ({ amount_liquid: liquid }) => inReais(liquid),
	amount_liquid: ({ amount_liquid: liquid }) => liquid,
	customer_name: ({ customer }) => customer?.name,
	customer_email: ({ customer }) => customer?.email,
	customer_phone: ({ customer }) => customer?.phone_number,
	customer_document: ({ customer }) => customer?.document,
	product_hash: ({ product }) => product?.hash,
	product_title: ({ product, offer }) => product?.title ?? offer?.title,
	offer_hash: ({ offer }) => offer?.hash,
	offer_title: ({ offer }) => offer?.title,
	item_titles: ({ items }) => items?.flatMap((one) => one?.title ?? one?.hash ?? []).join(', '),
	payment_method: ({ payment_method: method }) => method,
	installments: ({ installments }) => installments,
	created_at: ({ created_at: created }) => created,
	updated_at: ({ updated_at: updated }) => updated,
	src: ({ src, tracking }) => src ?? tracking?.src,
	utm_source: (transaction) => transaction.utm_source,
	utm_medium: (transaction) => transaction.utm_medium,
	utm_campaign: (transaction) => transaction.utm_campaign,
	utm_content: (transaction) => transaction.utm_content,
	utm_term: (transaction) => transaction.utm_term,
	pix_qr_code: ({ pix, payment_status: status }) =>
		isTooLateToPay(status) ? null : pix?.pix_qr_code,
	// Drawn only if it is chosen (transactionItem.ts).
	pix_qr_code_image: () => null,
} satisfies Record<string, (transaction: Transaction) => Value>;

export type TransactionField = keyof typeof FIELDS;

function isTransactionField(name: string): name is TransactionField {
	return Object.hasOwn(FIELDS, name);
}

export const TRANSACTION_FIELDS = Object.keys(FIELDS).filter(isTransactionField);

export const transactionFieldsSchema = z
	.array(z.string().refine(isTransactionField, 'is none of its choices'), {
		message: 'must be a list of the fields that it offers',
	})
	.optional();

/** Whatever else is chosen: later nodes, and the trigger itself, tell by them which sale it is. */
const ALWAYS: readonly TransactionField[] = ['hash', 'payment_status'];

/**
 * The ten of a simplified transaction: what the recipes send on. A contact is made of name, e-mail and
 * phone; a row also of amount and time; access is granted by the product's hash, since titles change; a
 * reminder needs the PIX code. All items have all ten, so that a sheet keeps its columns: without a code
 * that can still be paid it is null, and the payment method is there to choose.
 */
export const DEFAULT_FIELDS: readonly TransactionField[] = [
	...ALWAYS,
	'amount_reais',
	'customer_name',
	'customer_email',
	'customer_phone',
	'product_hash',
	'product_title',
	'updated_at',
	'pix_qr_code',
];

/** The same fields as in every transaction, but for the time of change: `checked_at` takes its place. */
const DEFAULT_WAIT_FIELDS = DEFAULT_FIELDS.filter((name) => name !== 'updated_at');

/** How a transaction becomes an item: as the service sent it, or as chosen flat fields. */
export type OutputChoice = {
	simplify: boolean;
	/** With `simplify`; the ten by default. */
	fields?: TransactionField[];
};

/** A transaction as an item. */
export function transactionOutput(
	transaction: Transaction,
	{ simplify, fields }: OutputChoice,
): IDataObject {
	return simplify ? flatFields(transaction, fields ?? DEFAULT_FIELDS) : transaction.json;
}

/** A transaction as Wait for Payment reports it, with the field to branch on first. */
export function waitOutput(
	transaction: Transaction,
	{ simplify, fields = [...DEFAULT_WAIT_FIELDS] }: OutputChoice,
): IDataObject {
	const paid = isPaid(transaction.payment_status);
	// A field of the service's own never takes the place of `paid`.
	return Object.assign({ paid }, transactionOutput(transaction, { simplify, fields }), { paid });
}

function flatFields(transaction: Transaction, chosen: readonly TransactionField[]): IDataObject {
	const names = TRANSACTION_FIELDS.filter((name) => ALWAYS.includes(name) || chosen.includes(name));
	return Object.fromEntries(names.map((name) => [name, FIELDS[name](transaction) ?? null]));
}

/** An item of the node's output. */
export type ItemResult = Pick<INodeExecutionData, 'json' | 'binary' | 'pairedItem'>;
