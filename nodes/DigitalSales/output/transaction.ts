import type { IDataObject } from 'n8n-workflow';
import type { AmountUnit } from '../domain/money';
import { transactionSchema } from '../api/schemas/transaction';
import { amountField } from './amountField';

/**
 * A transaction as ten flat fields for a spreadsheet or CRM: `amount` in integer cents, or
 * `amount_reais`.
 */
export function simplifyTransaction(json: IDataObject, unit?: AmountUnit): IDataObject {
	const transaction = transactionSchema.parse(json);
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
