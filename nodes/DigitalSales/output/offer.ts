import type { IDataObject } from 'n8n-workflow';
import { offerSchema } from '../api/schemas/offer';
import { inReais } from './inReais';

/** A created offer as eight flat fields. */
export function simplifyOffer(json: IDataObject): IDataObject {
	const offer = offerSchema.parse(json);
	return {
		hash: offer.hash ?? null,
		title: offer.title ?? null,
		price_reais: inReais(offer.price),
		url: offer.url ?? null,
		status: offer.status ?? null,
		interval: offer.interval ?? null,
		created_at: offer.created_at ?? null,
		updated_at: offer.updated_at ?? null,
	};
}
