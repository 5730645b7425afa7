import type { IDataObject } from 'n8n-workflow';
import { offerSchema } from '../api/schemas/offer';
import type { AmountUnit } from '../domain/money';
import { amountField } from './amountField';

/** A created offer as eight flat fields: `price_reais`, or `price` in integer cents. */
export function simplifyOffer(json: IDataObject, unit?: AmountUnit): IDataObject {
	const offer = offerSchema.parse(json);
	return {
		hash: offer.hash ?? null,
		title: offer.title ?? null,
		...amountField('price', offer.price, unit),
		url: offer.url ?? null,
		status: offer.status ?? null,
		interval: offer.interval ?? null,
		created_at: offer.created_at ?? null,
		updated_at: offer.updated_at ?? null,
	};
}
