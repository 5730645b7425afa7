import type { IDataObject } from 'n8n-workflow';
import { offerSchema } from '../api/schemas/offer';
import { inReais } from './inReais';

/** A created offer as the service sent it, flat as it is, with its price in reais besides. */
export function offerOutput(json: IDataObject): IDataObject {
	return { ...json, price_reais: inReais(offerSchema.parse(json).price) };
}
