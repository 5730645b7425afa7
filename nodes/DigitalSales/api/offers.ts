import type { IDataObject } from 'n8n-workflow';
import { hashSegment } from '../domain/text';
import type { Client, Send } from './client';
import { readResource } from './schemas/resource';

/**
 * Yields the tries to create an offer (API document, Endpoint 2: POST /products/{hash}/offers).
 *
 * @param body `price` is in integer cents
 */
export function offerTries(
	client: Client,
	productHash: string,
	body: IDataObject,
): AsyncGenerator<Send<IDataObject>, void> {
	const path = `/products/${hashSegment(productHash)}/offers`;
	return client.tries({ endpoint: 'POST /products/{hash}/offers', path, body }, readResource);
}
