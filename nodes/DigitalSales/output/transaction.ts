import type { IDataObject } from 'n8n-workflow';
import type { AmountUnit } from '../domain/money';
import type { Transaction } from '../api/schemas/transaction';
import { isPaid, isSettled } from '../domain/paymentStatus';
import { amountField } from './amountField';

/**
 * A transaction as ten flat fields: `amount_reais`, or `amount` in integer cents.
 *
 * @internal
 */
export function simplifyTransaction(transaction: Transaction, unit?: AmountUnit): IDataObject {
	return {
		hash: transaction.hash,
		payment_status: transaction.payment_status ?? null,
		payment_method: transaction.payment_method ?? null,
		...amountField('amount', transaction.amount, unit),
		customer_name: transaction.customer?.name ?? null,
		customer_email: transaction.customer?.email ?? null,
		customer_phone: transaction.customer?.phone_number ?? null,
		product_title: transaction.product?.title ?? transaction.offer?.title ?? null,
		created_at: transaction.created_at ?? null,
		pix_qr_code: transaction.pix?.pix_qr_code ?? null,
	};
}

/** A transaction as the service sent it, or simplified. */
export function transactionOutput(
	transaction: Transaction,
	simplify: boolean,
	unit?: AmountUnit,
): IDataObject {
	return simplify ? simplifyTransaction(transaction, unit) : transaction.json;
}

/**
 * A transaction as Wait for Payment reports it: the field to branch on first, and with Simplify what a
 * reminder needs. A field of the service's own never takes the place of `paid` or `timedOut`.
 */
export function waitOutput(
	transaction: Transaction,
	simplify: boolean,
	unit?: AmountUnit,
): IDataObject {
	const { payment_status: status, json } = transaction;
	const {
		payment_method: _method,
		created_at: _created,
		...simplified
	} = simplifyTransaction(transaction, unit);
	const paid = isPaid(status);
	return Object.assign({ paid }, simplify ? simplified : json, {
		paid,
		timedOut: !isSettled(status),
	});
}
