import type { IDataObject } from 'n8n-workflow';
import { statedCents, type Notice } from './parse';
import { transactionSchema } from '../api/schemas/transaction';
import { simplifyTransaction } from '../output/transaction';
import type { AmountUnit } from '../domain/money';

/** What the service itself says of a transaction, in the terms in which a notice speaks of it. */
export function factsOf(transaction: IDataObject): Notice {
	const { hash, payment_status, payment_method, product, offer } =
		transactionSchema.parse(transaction);
	return {
		hash,
		status: payment_status ?? undefined,
		paymentMethod: payment_method ?? undefined,
		productHash: product?.hash ?? undefined,
		offerHash: offer?.hash ?? undefined,
		amount: statedCents(transaction.amount),
	};
}

/**
 * A transaction as it is reported on. The code to pay with is of no use any more then, and what is
 * said of the report itself takes its place among the ten fields of Simplify.
 */
export function reported(
	transaction: IDataObject,
	simplify: boolean,
	unit?: AmountUnit,
): IDataObject {
	if (!simplify) return transaction;
	const { pix_qr_code: _dropped, ...fields } = simplifyTransaction(transaction, unit);
	return fields;
}
