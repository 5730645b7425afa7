/**
 * The resources of the platform, as the API document lists them ("Resources and their fields").
 * Amounts and prices are integer cents unless a field says otherwise.
 */

export type ProductStatus = 1 | 2 | 3 | 4;

export const INTERVALS = [
	'daily',
	'weekly',
	'monthly',
	'quarterly',
	'semi-annual',
	'yearly',
] as const;

export interface Offer {
	hash: string;
	title: string | null;
	/** Cents. */
	price: number;
	url: string;
	status: number;
	interval: (typeof INTERVALS)[number] | null;
	created_at: string;
	updated_at: string;
}

export interface Product {
	hash: string;
	title: string;
	description: string;
	cover: string;
	id_category: number;
	product_type: string;
	/** Days, carried as a string. */
	guaranted_days: string;
	sale_page: string;
	offers: Offer[];
	status: ProductStatus;
	support_name: string;
	support_email: string;
	support_whatsapp: string | null;
}

/** An offer created through the API, with the request's body. */
export interface CreatedOffer {
	product_hash: string;
	offer: Offer;
	request: Record<string, unknown>;
}

export interface Pix {
	pix_url: string;
	pix_qr_code: string;
	qr_code_base64: string | null;
}

/** A transaction as the sandbox stores it. Answers contain parts of it. */
export interface StoredTransaction {
	/** Numeric id, which only notifications of the shape `transaction` show. */
	id: number;
	hash: string;
	payment_method: string;
	payment_status: string;
	/** The status before the last change. The shape `envelope` shows it in `transaction.status`, which lags behind. */
	previous_status: string;
	installments: number;
	pix: Pix | null;
	/** Cents. */
	amount: number;
	/** Cents. */
	amount_liquid: number;
	/** Secondary reference: a string, never an object, in the REST resource. */
	transaction: string;
	tracking: Record<'src' | `utm_${string}`, string | null>;
	customer: { hash: string; name: string; email: string; phone_number: string; document: string };
	offer: { hash: string; title: string; price: number; installments: number };
	product: { hash: string; title: string; cover: string; status: string };
	items: Array<{ hash: string; product_id: number; operation_type: number }>;
	postback_url: string;
	created_at: string;
	updated_at: string;
	paid_at: string | null;
}
