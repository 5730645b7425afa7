import type { StoredTransaction } from './types';

/** How the picture of the QR code is handed out; the document shows only `bare`. */
export type QrImageStyle = 'bare' | 'dataUri' | 'pix_base64' | 'absent';

const PRODUCER = {
	hash: 'prod7k2m9x',
	name: 'Escola Sandbox Ltda',
	email: 'produtor@sandbox.test',
};

export const MERCHANT_NAME = PRODUCER.name;

/** The transaction as POST /transactions answers it (section "Transaction"). */
export function createdShape(stored: StoredTransaction, image: QrImageStyle): object {
	return {
		...common(stored, image),
		producer: { name: PRODUCER.name },
		tracking_code: stored.tracking.src,
	};
}

/** The transaction as GET /transactions/{hash} answers it (section "Transaction"). */
export function readShape(stored: StoredTransaction, image: QrImageStyle): object {
	const platform = stored.amount - stored.amount_liquid;
	return {
		...common(stored, image),
		producer: PRODUCER,
		split_recipients: [
			// Texts, and cents: the document notes the type and says no unit.
			{ recipient_type: 'producer', amount: String(stored.amount_liquid) },
			{ recipient_type: 'platform', amount: String(platform) },
		],
		balance: { amount: stored.amount_liquid, status: 'available' },
	};
}

function common(stored: StoredTransaction, image: QrImageStyle): object {
	const { src: _code, ...utm } = stored.tracking;
	return {
		event: 'transaction',
		hash: stored.hash,
		payment_method: stored.payment_method,
		payment_status: stored.payment_status,
		installments: stored.installments,
		pix: pixShape(stored, image),
		billet: null,
		amount: stored.amount,
		amount_liquid: stored.amount_liquid,
		transaction: stored.transaction,
		...utm,
		customer: stored.customer,
		affiliate: null,
		offer: stored.offer,
		product: stored.product,
		items: stored.items,
		postback_url: stored.postback_url,
		created_at: stored.created_at,
		updated_at: stored.updated_at,
	};
}

function pixShape({ pix }: StoredTransaction, image: QrImageStyle): object | null {
	if (!pix) return null;
	const { qr_code_base64: bare, ...rest } = pix;
	if (image === 'absent') return { ...rest, qr_code_base64: null };
	if (image === 'pix_base64') return { ...rest, pix_base64: bare };
	return { ...rest, qr_code_base64: image === 'dataUri' ? `data:image/png;base64,${bare}` : bare };
}

// Not a token of the account: nobody shows what this field is good for.
const NOTICE_TOKEN = 'sandbox-notice-token-5544332211';

/**
 * The body of a notification, by its shape. The document says "not shown"; these are the shapes that
 * public integrations of this family of services report.
 */
const NOTICE_BODIES = {
	/** Around the transaction. */
	envelope: (stored: StoredTransaction): object => ({
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
	}),
	/** The transaction itself. */
	transaction: (stored: StoredTransaction): object => ({
		id: stored.id,
		...readShape(stored, 'bare'),
	}),
	/** A flat summary of it. */
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

/** The body of a notification in a shape. */
export function noticeBody(stored: StoredTransaction, shape: NoticeShape): object {
	return NOTICE_BODIES[shape](stored);
}

export function isNoticeShape(value: unknown): value is NoticeShape {
	const shapes: readonly unknown[] = NOTICE_SHAPES;
	return shapes.includes(value);
}
