import { CHECKOUT_HOST, isSubscription } from '../catalog/seed';
import { timestamp } from '../clock';
import { isRecord, type JsonObject } from '../http/json';
import { INTERVALS, type Offer, type Product } from '../types';
import { failure, failureByField, failureList, json, type Answer } from './answer';
import type { ApiRequest, SandboxParts } from './context';
import { demand, FieldErrors, FieldReader } from './fields';

const METHOD_CODES = [1, 2, 3];

/**
 * Section "POST /products/{hash}/offers". Only the price is demanded, and the interval for a
 * subscription product: the document does not say which further fields are required.
 */
export function createOffer(parts: SandboxParts): (request: ApiRequest) => Answer {
	const { settings, state } = parts;
	return ({ params, body, faults }) => {
		const product = state.product(params['hash'] ?? '');
		if (!product) return failure(404, 'Product not found.');
		const forced = faults.of('errorsByField');
		if (forced?.errors) return failureByField('The given data was invalid.', forced.errors);
		const input = isRecord(body) ? body : {};
		const errors = checkOffer(input, product);
		demand(errors, input, settings.demands.offer);
		if (errors.any) {
			if (forced || settings.errorsByField) {
				return failureByField(errors.message(), errors.keyed());
			}
			return failureList(422, errors.message(), errors.list());
		}
		const offer = toOffer(input, state.newHash());
		state.addOffer(product, offer, input);
		const { interval, ...rest } = offer;
		return json(201, interval === null ? rest : { ...rest, interval });
	};
}

function checkOffer(input: JsonObject, product: Product): FieldErrors {
	const errors = new FieldErrors();
	const fields = new FieldReader(errors, input);
	fields.text('title');
	if (fields.required('price')) fields.integer('price', 1);
	fields.list('payment_methods').forEach((code, index) => {
		if (typeof code !== 'number' || !METHOD_CODES.includes(code)) {
			fields.refuse(`payment_methods.${index}`, 'is invalid.');
		}
	});
	fields.oneOf('method_default', METHOD_CODES);
	if (isSubscription(product)) fields.required('interval');
	fields.oneOf('interval', INTERVALS);
	fields.boolean('affiliates_visible');
	for (const discount of fields.objects('payment_method_discounts')) {
		if (discount.required('payment_method')) discount.text('payment_method');
		if (discount.required('discount_percentage')) discount.number('discount_percentage', 0, 100);
	}
	return errors;
}

function toOffer(input: JsonObject, hash: string): Offer {
	const now = timestamp(Date.now());
	return {
		hash,
		title: typeof input['title'] === 'string' ? input['title'] : null,
		price: typeof input['price'] === 'number' ? input['price'] : 0,
		url: `${CHECKOUT_HOST}/${hash}`,
		status: 1,
		interval: INTERVALS.find((interval) => interval === input['interval']) ?? null,
		created_at: now,
		updated_at: now,
	};
}
