import type { JsonObject } from '../http/json';
import type { Settings } from '../options';
import type { SandboxState } from '../state';
import type { Tracking } from '../types';
import { demand, FieldErrors, FieldReader } from './fields';

// Eleven digits are a CPF; a CNPJ may have letters in its first twelve places since July 2026.
const DOCUMENT = /^(\d{11}|[0-9A-Z]{12}\d{2})$/;
const PHONE = /^\d{10,13}$/;

/** The order of a body that has passed its checks; amounts in cents. */
export interface TransactionInput {
	amount: number;
	installments: number;
	offerHash: string;
	items: Array<{ offerHash: string; operationType: number }>;
	customer: { name: string; email: string; phone: string; document: string };
	tracking: Tracking;
	notificationUrl: string;
}

/**
 * Checks the body of POST /transactions. The document does not say which fields are required:
 * here they are those without which no charge could be made (amount, method, cart, payer).
 */
export function readTransaction(
	body: JsonObject,
	settings: Settings,
	state: SandboxState,
): { errors: FieldErrors; input: TransactionInput } {
	const errors = new FieldErrors();
	const fields = new FieldReader(errors, body);
	const amount = fields.required('amount') ? fields.integer('amount', 1) : undefined;
	// "Request shapes for methods other than pix: not shown", so there is nothing else to accept.
	if (fields.required('payment_method')) fields.oneOf('payment_method', ['pix']);
	const items = readCart(fields, state);
	const notificationUrl = fields.httpUrl(settings.notificationField);
	const input: TransactionInput = {
		amount: amount ?? 0,
		installments: fields.integer('installments', 1) ?? 1,
		offerHash: items[0]?.offerHash ?? '',
		items,
		customer: readCustomer(fields),
		tracking: readTracking(fields),
		notificationUrl: notificationUrl ?? '',
	};
	demand(errors, body, settings.demands.transaction);
	return { errors, input };
}

function readCart(fields: FieldReader, state: SandboxState): TransactionInput['items'] {
	if (!fields.required('cart')) return [];
	return fields.objects('cart').map((item) => {
		const offerHash = (item.required('offer_hash') && item.text('offer_hash')) || '';
		if (offerHash !== '' && !state.soldOffer(offerHash)) item.refuse('offer_hash', 'is invalid.');
		item.integer('price', 0);
		item.integer('quantity', 1);
		item.text('title');
		item.httpUrl('cover');
		return { offerHash, operationType: item.integer('operation_type') ?? 1 };
	});
}

function readCustomer(fields: FieldReader): TransactionInput['customer'] {
	const customer = fields.required('customer') ? fields.object('customer') : undefined;
	if (!customer) return { name: '', email: '', phone: '', document: '' };
	if (customer.required('name')) customer.text('name');
	if (customer.required('email')) {
		customer.matches('email', /^[^\s@]+@[^\s@]+$/, 'must be a valid email address.');
	}
	if (customer.required('document')) {
		customer.matches('document', DOCUMENT, 'must be a CPF or CNPJ without punctuation.');
	}
	customer.matches('phone_number', PHONE, 'must be between 10 and 13 digits.');
	return {
		name: customer.peek('name'),
		email: customer.peek('email'),
		phone: customer.peek('phone_number'),
		document: customer.peek('document'),
	};
}

function readTracking(fields: FieldReader): Tracking {
	const tracking = fields.object('tracking');
	const value = (name: string): string | null => tracking?.text(name) ?? null;
	return {
		src: value('src'),
		utm_source: value('utm_source'),
		utm_campaign: value('utm_campaign'),
		utm_content: value('utm_content'),
		utm_term: value('utm_term'),
		utm_medium: value('utm_medium'),
	};
}
