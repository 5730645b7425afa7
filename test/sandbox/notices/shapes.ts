import { readShape } from '../api/transactionShape';
import type { StoredTransaction } from '../types';

/** An envelope around the transaction, the transaction itself, or a flat summary of it. */
export const NOTICE_SHAPES = ['envelope', 'transaction', 'summary'] as const;
export type NoticeShape = (typeof NOTICE_SHAPES)[number];

// Not a token of the account: nobody shows what this field is good for.
const NOTICE_TOKEN = 'sandbox-notice-token-5544332211';

/**
 * The body of a notification. The document says "not shown"; these are the shapes that
 * public integrations of this family of services report.
 */
export function noticeBody(stored: StoredTransaction, shape: NoticeShape): object {
	if (shape === 'transaction') return { id: stored.id, ...readShape(stored, 'bare') };
	if (shape === 'summary') {
		return {
			transaction_hash: stored.hash,
			status: stored.payment_status,
			amount: stored.amount,
			payment_method: stored.payment_method,
			paid_at: stored.paid_at,
		};
	}
	return {
		token: NOTICE_TOKEN,
		event: 'transaction',
		status: stored.payment_status,
		method: stored.payment_method,
		customer: stored.customer,
		transaction: {
			id: stored.hash,
			// Only the status at the root is right; the one in here lags behind.
			status: stored.previous_status,
			amount: String(stored.amount),
			installments: stored.installments,
			created_at: stored.created_at,
		},
		offer: stored.offer,
		items: stored.items,
		tracking: stored.tracking,
	};
}

export function isNoticeShape(value: unknown): value is NoticeShape {
	const shapes: readonly unknown[] = NOTICE_SHAPES;
	return shapes.includes(value);
}
