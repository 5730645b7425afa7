import type { StoredTransaction } from './types';

/** At most 25 characters, all of which a PIX code can contain. */
export const MERCHANT_NAME = 'Escola Sandbox Ltda';

const PRODUCER = { hash: 'prod7k2m9x', name: MERCHANT_NAME, email: 'produtor@sandbox.test' };

/** The transaction as POST /transactions answers it (section "Transaction"). */
export function createdShape(stored: StoredTransaction): object {
	return {
		...commonFields(stored),
		producer: { name: PRODUCER.name },
		tracking_code: stored.tracking.src,
	};
}

/** The transaction as GET /transactions/{hash} answers it (section "Transaction"). */
export function readShape(stored: StoredTransaction): object {
	const platform = stored.amount - stored.amount_liquid;
	return {
		...commonFields(stored),
		producer: PRODUCER,
		split_recipients: [
			// Cents as text: the document notes the type and names no unit.
			{ recipient_type: 'producer', amount: String(stored.amount_liquid) },
			{ recipient_type: 'platform', amount: String(platform) },
		],
		balance: { amount: stored.amount_liquid, status: 'available' },
	};
}

/** The fields that both answers have. */
function commonFields(transaction: StoredTransaction): object {
	const { id: _id, previous_status: _previous, paid_at: _paid, tracking, ...stored } = transaction;
	const { src: _code, ...utm } = tracking;
	return { event: 'transaction', ...stored, ...utm, billet: null, affiliate: null };
}

// Not a token of the account. No source says what the field is for.
const NOTICE_TOKEN = 'sandbox-notice-token-5544332211';

/**
 * The body of a notification, by its shape. The document says "not shown"; these are the shapes that
 * public integrations of this family of platforms report.
 */
const NOTICE_BODIES = {
	/** An envelope around parts of the transaction. */
	envelope: (stored: StoredTransaction): object => ({
		token: NOTICE_TOKEN,
		event: 'transaction',
		status: stored.payment_status,
		method: stored.payment_method,
		customer: stored.customer,
		transaction: {
			id: stored.hash,
			// Lags behind. Only the status at the root is right.
			status: stored.previous_status,
			amount: String(stored.amount),
			installments: stored.installments,
			created_at: stored.created_at,
		},
		offer: stored.offer,
		items: stored.items,
		tracking: stored.tracking,
	}),
	/** The transaction itself. */
	transaction: (stored: StoredTransaction): object => ({ id: stored.id, ...readShape(stored) }),
	/** A flat summary of the transaction. */
	summary: (stored: StoredTransaction): object => ({
		transaction_hash: stored.hash,
		status: stored.payment_status,
		amount: stored.amount,
		payment_method: stored.payment_method,
		paid_at: stored.paid_at,
	}),
};

export type NoticeShape = keyof typeof NOTICE_BODIES;
export const NOTICE_SHAPES = Object.keys(NOTICE_BODIES) as NoticeShape[];

/** The body of a notification in the given shape. */
export function noticeBody(stored: StoredTransaction, shape: NoticeShape): object {
	return NOTICE_BODIES[shape](stored);
}
