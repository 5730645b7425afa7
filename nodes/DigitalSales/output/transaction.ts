import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Transaction } from '../api';
import { inReais, isPaid, isTooLateToPay } from '../domain';

type Value = string | number | null | undefined;

/** In the order of the fields in an output item. Amounts under the platform's own names are in integer cents. */
const FIELDS = {
	hash: ({ hash }) => hash,
	payment_status: ({ payment_status: status }) => status,
	pix_qr_code: ({ pix, payment_status: status }) =>
		isTooLateToPay(status) ? null : pix?.pix_qr_code,
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
	item_titles: ({ items }) => items?.flatMap((item) => item?.title ?? item?.hash ?? []).join(', '),
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
	// Drawn by transactionItem.ts.
	pix_qr_code_image: () => null,
} satisfies Record<string, (transaction: Transaction) => Value>;

export type TransactionField = keyof typeof FIELDS;

function isTransactionField(name: string): name is TransactionField {
	return Object.hasOwn(FIELDS, name);
}

export const TRANSACTION_FIELDS = Object.keys(FIELDS).filter(isTransactionField);

export const transactionFieldsSchema = z
	.array(z.string().refine(isTransactionField, 'is not an available field'), {
		message: 'must be a list of the available fields',
	})
	.optional();

/** Later nodes and the trigger identify the sale by these fields. */
const ALWAYS: readonly TransactionField[] = ['hash', 'payment_status'];

/** Every item has all of them except the PIX code, so that a sheet keeps its columns. */
export const DEFAULT_FIELDS: readonly TransactionField[] = [
	...ALWAYS,
	'pix_qr_code',
	'amount_reais',
	'customer_name',
	'customer_email',
	'customer_phone',
	'product_hash',
	'product_title',
	'updated_at',
];

/** The charge of an order may be old, and a new charge has not changed yet. */
export const DEFAULT_CHARGE_FIELDS = DEFAULT_FIELDS.map((name) =>
	name === 'updated_at' ? 'created_at' : name,
);

export type OutputChoice = {
	simplify: boolean;
	fields?: readonly TransactionField[];
};

export function transactionOutput(
	transaction: Transaction,
	{ simplify, fields: chosen = DEFAULT_FIELDS }: OutputChoice,
): IDataObject {
	if (!simplify) return transaction.json;
	const names = TRANSACTION_FIELDS.filter((name) => ALWAYS.includes(name) || chosen.includes(name));
	const fields = names.map((name) => [name, FIELDS[name](transaction) ?? null] as const);

	return Object.fromEntries(
		fields.filter(([name, value]) => name !== 'pix_qr_code' || value !== null),
	);
}

/** `paid` comes first, because a person looks for it. */
export function waitOutput(transaction: Transaction, choice: OutputChoice): IDataObject {
	const paid = isPaid(transaction.payment_status);
	// The platform's own fields never replace `paid`.
	return Object.assign({ paid }, transactionOutput(transaction, choice), { paid });
}
