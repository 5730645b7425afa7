import { z } from 'zod';
import { OFFER_INTERVALS, PRODUCT_STATUSES } from '../../../nodes/DigitalSales/api/schemas/product';
import type { Redactor } from '../../../nodes/DigitalSales/api/redact';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';

/** Gives a word of the service as a report may show it. */
export type Shown = (word: string) => string;

/** Fields whose values name a person, a thing of the account, or a secret. */
const TELLING = /hash|name|mail|phone|whatsapp|document|token|^id$|^transaction$/i;
/** What names of fields, headers, statuses and content types look like. */
const WORD = /^_?[a-z]+\d{0,2}(?:[_.+/-](?:[a-z]+\d{0,2}|\d{1,3}))*$/i;
const LONGEST_WORD = 40;
const SHORTEST_VALUE = 4;
const REMOVED = '[removed]';

/**
 * Every word of a report that comes from the service passes through this, and nothing else of it is
 * shown: whatever does not look like the name of a field, or is a telling value that was seen, is
 * replaced.
 */
export function createShown(redact: Redactor, bodies: unknown[]): Shown {
	const values = new Set<string>();
	for (const body of bodies) collect(body, '', values);
	return (word) => {
		const parts = [word, ...word.split(/[_.+/-]/)].map((part) => part.toLowerCase());
		const isShown =
			word.length <= LONGEST_WORD &&
			WORD.test(word) &&
			redact.text(word) === word &&
			!parts.some((part) => values.has(part));
		return isShown ? word : REMOVED;
	};
}

/** Nothing from deeper down gets into a report. */
const DEEPEST = 64;

function collect(value: unknown, name: string, values: Set<string>, depth = 0): void {
	if (depth > DEEPEST) return;
	if (Array.isArray(value)) {
		for (const entry of value) collect(entry, name, values, depth + 1);
	} else if (isJsonObject(value)) {
		for (const [key, entry] of Object.entries(value)) collect(entry, key, values, depth + 1);
	} else if (TELLING.test(name) && (typeof value === 'string' || typeof value === 'number')) {
		const whole = String(value).trim().toLowerCase();
		for (const part of [whole, ...whole.split(/\s+/)]) {
			if (part.length >= SHORTEST_VALUE) values.add(part);
		}
	}
}

/** The objects exactly as the API document lists them: the package itself reads them more leniently. */
const text = z.string();
const textOrNull = text.nullable();
const cents = z.number().int();
const isOneOf = (values: readonly unknown[]) => (value: unknown) => values.includes(value);
/** A value that was observed, among others that are not shown. */
const observed = (...values: Array<string | number>) =>
	z.union([z.string(), z.number()]).refine(isOneOf(values), UNLISTED);

const UNLISTED = 'a value that the document does not list';

const offer = z
	.object({
		hash: text,
		title: textOrNull,
		price: cents,
		url: text,
		status: observed(1),
		interval: textOrNull.refine(isOneOf([null, ...OFFER_INTERVALS]), UNLISTED),
		created_at: text,
		updated_at: text,
	})
	.strict();

const product = z
	.object({
		hash: text,
		title: text,
		description: text,
		cover: text,
		id_category: z.number().int(),
		product_type: observed('digital'),
		guaranted_days: text,
		sale_page: text,
		offers: z.array(offer),
		status: z.number().refine(isOneOf(Object.values(PRODUCT_STATUSES)), UNLISTED),
		support_name: text,
		support_email: text,
		support_whatsapp: textOrNull,
	})
	.strict();

const person = z.object({ hash: text, name: text, email: text }).strict();

const transaction = z
	.object({
		event: observed('transaction'),
		hash: text,
		payment_method: text,
		// Its values have a row of their own.
		payment_status: text,
		installments: z.number().int(),
		pix: z
			.object({ pix_url: text, pix_qr_code: text, qr_code_base64: textOrNull })
			.strict()
			.nullable(),
		billet: z.object({}).passthrough().nullable(),
		amount: cents,
		amount_liquid: cents,
		transaction: text,
		utm_source: textOrNull,
		utm_campaign: textOrNull,
		utm_content: textOrNull,
		utm_term: textOrNull,
		utm_medium: textOrNull,
		customer: person.extend({ phone_number: text, document: text }).strict(),
		affiliate: person.nullable(),
		offer: z
			.object({ hash: text, title: text, price: cents, installments: z.number().int() })
			.strict(),
		product: z
			.object({ hash: text, title: text, cover: text, status: observed('active', 'inactive') })
			.strict(),
		items: z.array(
			z
				.object({ hash: text, product_id: z.number().int(), operation_type: z.number().int() })
				.strict(),
		),
		postback_url: text,
		created_at: text,
		updated_at: text,
	})
	.strict();

const readTransaction = transaction.extend({
	producer: person,
	split_recipients: z.array(
		z.object({ recipient_type: observed('producer', 'platform'), amount: text }).strict(),
	),
	balance: z.object({ amount: cents, status: observed('available') }).strict(),
});

const createdTransaction = transaction.extend({
	producer: z.object({ name: text }).strict(),
	tracking_code: textOrNull,
});

export const DOCUMENTED = { product, offer, readTransaction, createdTransaction };

/** The fields of the bodies, dotted, as the document lists them; entries of a list have no number. */
export const BODY_FIELDS: ReadonlySet<string> = new Set([
	...['api_token', 'amount', 'payment_method', 'installments', 'webhook_url', 'cart', 'customer'],
	...['offer_hash', 'price', 'quantity', 'operation_type', 'title', 'cover'].map(
		(name) => `cart.${name}`,
	),
	...['name', 'email', 'phone_number', 'document'].map((name) => `customer.${name}`),
	...['src', 'utm_source', 'utm_campaign', 'utm_content', 'utm_term', 'utm_medium'].map(
		(name) => `tracking.${name}`,
	),
	...['tracking', 'title', 'price', 'payment_methods', 'method_default', 'interval'],
	...['affiliates_visible', 'payment_method_discounts'],
	...['payment_method', 'discount_percentage'].map((name) => `payment_method_discounts.${name}`),
]);

export interface Differences {
	/** Fields and values that the document does not list. */
	further: string[];
	/** Fields that are missing or of another type. */
	other: string[];
}

/** How an object differs from the document, without a word of what it holds. */
export function differences(
	what: string,
	schema: z.ZodTypeAny,
	value: unknown,
	shown: Shown,
): Differences {
	const issues = schema.safeParse(value).error?.issues ?? [];
	const found: Differences = { further: [], other: [] };
	for (const issue of issues) {
		// The number of an entry says nothing, and each would make a line of its own.
		const path = issue.path.map((step) => (typeof step === 'number' ? '[]' : `.${step}`)).join('');
		const field = `${what}${path}`;
		if (issue.code === 'unrecognized_keys') {
			found.further.push(...issue.keys.map((key) => `${field}.${shown(key)}`));
		} else if (issue.message === UNLISTED) {
			found.further.push(`${field} has ${UNLISTED}`);
		} else found.other.push(`${field} is ${kindAt(value, issue.path)}`);
	}
	return { further: [...new Set(found.further)], other: [...new Set(found.other)] };
}

function kindAt(value: unknown, path: Array<string | number>): string {
	let at = value;
	for (const step of path) {
		if (Array.isArray(at)) at = at[Number(step)];
		else at = isJsonObject(at) ? at[step] : undefined;
	}
	return at === undefined ? 'missing' : kindOf(at);
}

/** The kind of a JSON value, in words. */
export function kindOf(value: unknown): string {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'a list';
	switch (typeof value) {
		case 'string':
			return 'a text';
		case 'number':
			return Number.isSafeInteger(value) ? 'a whole number' : 'a number with a fraction';
		case 'boolean':
			return 'true or false';
		default:
			return 'an object';
	}
}
