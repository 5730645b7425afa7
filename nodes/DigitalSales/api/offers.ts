import type { IDataObject } from 'n8n-workflow';
import { hashSegment } from '../domain/hash';
import type { Client, Recording } from './client';
import { readResource } from './schemas/lenient';

/**
 * Creates an offer of a product (API document, Endpoint 2: POST /products/{hash}/offers).
 *
 * @param body the documented fields under the service's names; `price` in integer cents
 * @param record what is sent only while it is recorded
 * @returns the offer as the service sent it
 * @throws ServiceError, with `isInDoubt` if the offer may exist although no usable answer came
 */
export async function createOffer(
	client: Client,
	productHash: string,
	body: IDataObject,
	record?: Recording,
): Promise<IDataObject> {
	return await client.request(
		{
			endpoint: 'POST /products/{hash}/offers',
			path: `/products/${hashSegment(productHash)}/offers`,
			body,
		},
		readResource,
		record,
	);
}
