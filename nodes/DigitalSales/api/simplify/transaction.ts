import type { IDataObject } from 'n8n-workflow';
import { transactionSchema } from '../schemas/transaction';

/** A transaction as ten flat fields for a spreadsheet or CRM. `amount` in integer cents. */
export function simplifyTransaction(json: IDataObject): IDataObject {
	const { data: transaction } = transactionSchema.safeParse(json);
	return {
		hash: transaction?.hash ?? null,
		payment_status: transaction?.payment_status ?? null,
		payment_method: transaction?.payment_method ?? null,
		amount: transaction?.amount ?? null,
		customer_name: transaction?.customer?.name ?? null,
		customer_email: transaction?.customer?.email ?? null,
		customer_phone: transaction?.customer?.phone_number ?? null,
		product_title: transaction?.product?.title ?? transaction?.offer?.title ?? null,
		created_at: transaction?.created_at ?? null,
		pix_qr_code: transaction?.pix?.pix_qr_code ?? null,
	};
}
