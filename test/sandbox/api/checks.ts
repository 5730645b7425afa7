import { z } from 'zod';
import { type Answer, failureAnswer } from '../http';
import { INTERVALS } from '../types';

// Strict about types: an amount as text or with a fraction is refused, because the document says integer. The
// document does not say which fields are required. Here, a field is required if no charge or offer can exist
// without it.

const integer = z.number().int().safe();
const text = z.string().nullish();
const required = z.string().min(1);
const webAddress = z
	.string()
	.url()
	.regex(/^https?:/i);
const methodCode = z.number().refine((code) => [1, 2, 3].includes(code));
// A CPF has eleven digits. Since July 2026 the first twelve characters of a CNPJ may be letters.
const document = z.string().regex(/^(\d{11}|[0-9A-Z]{12}\d{2})$/);

/** The body of POST /products/{hash}/offers. */
export const offerSchema = (isSubscription: boolean) =>
	z.object({
		title: text,
		price: integer.min(1),
		payment_methods: z.array(methodCode).nullish(),
		method_default: methodCode.nullish(),
		interval: isSubscription ? z.enum(INTERVALS) : z.enum(INTERVALS).nullish(),
		affiliates_visible: z.boolean().nullish(),
		payment_method_discounts: z
			.array(
				z.object({ payment_method: required, discount_percentage: z.number().min(0).max(100) }),
			)
			.nullish(),
	});

export type Order = z.output<ReturnType<typeof orderSchema>>;

/** The body of POST /transactions. */
export const orderSchema = (isOffer: (hash: string) => boolean) =>
	z.object({
		amount: integer.min(1),
		// "Request shapes for methods other than pix: not shown", so there is nothing else to accept.
		payment_method: z.literal('pix'),
		cart: z
			.array(
				z.object({
					offer_hash: required.refine(isOffer),
					price: integer.min(0).nullish(),
					quantity: integer.min(1).nullish(),
					operation_type: integer.nullish(),
					title: text,
					cover: webAddress.nullish(),
				}),
			)
			.min(1),
		installments: integer.min(1).nullish(),
		customer: z.object({
			name: required,
			email: z.string().regex(/^[^\s@]+@[^\s@]+$/),
			phone_number: z
				.string()
				.regex(/^\d{8,15}$/)
				.nullish(),
			document,
		}),
		tracking: z
			.object({
				src: text,
				utm_source: text,
				utm_campaign: text,
				utm_content: text,
				utm_term: text,
				utm_medium: text,
			})
			.nullish(),
		webhook_url: webAddress.nullish(),
	});

/** A 422 that names each wrong field by its dotted path. */
export function refusalAnswer({ issues }: z.ZodError): Answer {
	const texts = issues.map((issue) => {
		const isMissing = issue.code === 'invalid_type' && /^(undefined|null)$/.test(issue.received);
		return `The ${issue.path.join('.')} field is ${isMissing ? 'required' : 'invalid'}.`;
	});
	return failureAnswer(422, texts[0] ?? '', texts);
}
