import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Transaction } from '../api';
import { inReais, isPaid, isTooLateToPay } from '../domain';

type Value = string | number | null | undefined;

/** In the order of the fields in an output item. Amounts under the platform's own names are in integer cents. */
const FIELDS = {
	hash: (sale) => sale.hash,
	payment_status: (sale) => sale.payment_status,
	pix_qr_code: (sale) => (isTooLateToPay(sale.payment_status) ? null : sale.pix?.pix_qr_code),
	amount_reais: (sale) => inReais(sale.amount),
	amount: (sale) => sale.amount,
	amount_liquid_reais: (sale) => inReais(sale.amount_liquid),
	amount_liquid: (sale) => sale.amount_liquid,
	customer_name: (sale) => sale.customer?.name,
	customer_email: (sale) => sale.customer?.email,
	customer_phone: (sale) => sale.customer?.phone_number,
	customer_document: (sale) => sale.customer?.document,
	product_hash: (sale) => sale.product?.hash,
	product_title: (sale) => sale.product?.title ?? sale.offer?.title,
	offer_hash: (sale) => sale.offer?.hash,
	offer_title: (sale) => sale.offer?.title,
	item_titles: (sale) => sale.items?.flatMap((item) => item?.title ?? item?.hash ?? []).join(', '),
	payment_method: (sale) => sale.payment_method,
	installments: (sale) => sale.installments,
	created_at: (sale) => sale.created_at,
	updated_at: (sale) => sale.updated_at,
	src: (sale) => sale.src ?? sale.tracking?.src,
	utm_source: (sale) => sale.utm_source,
	utm_medium: (sale) => sale.utm_medium,
	utm_campaign: (sale) => sale.utm_campaign,
	utm_content: (sale) => sale.utm_content,
	utm_term: (sale) => sale.utm_term,
	// Drawn by transactionItem.ts.
	pix_qr_code_image: () => null,
} satisfies Record<string, (sale: Transaction) => Value>;

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

/** What an item of the output contains. */
export type OutputChoice = {
	/** Flat fields, instead of the platform's own object. */
	simplify: boolean;
	/** Of the flat output, by default `DEFAULT_FIELDS`. */
	fields?: readonly TransactionField[];
};

export function transactionOutput(transaction: Transaction, choice: OutputChoice): IDataObject {
	if (!choice.simplify) return transaction.json;

	const chosen = [...ALWAYS, ...(choice.fields ?? DEFAULT_FIELDS)];
	const output: IDataObject = {};
	for (const name of TRANSACTION_FIELDS) {
		const value = FIELDS[name](transaction) ?? null;
		const isShown = chosen.includes(name) && (name !== 'pix_qr_code' || value !== null);
		if (isShown) output[name] = value;
	}

	return output;
}

/** `paid` comes first, because a person looks for it. */
export function waitOutput(transaction: Transaction, choice: OutputChoice): IDataObject {
	const paid = isPaid(transaction.payment_status);
	// The platform's own fields never replace `paid`.
	return Object.assign({ paid }, transactionOutput(transaction, choice), { paid });
}
