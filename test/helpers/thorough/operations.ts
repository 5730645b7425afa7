import type { INodeParameters } from 'n8n-workflow';
import { sampleOf } from '../samples';
import type { Endpoint, Sandbox } from '../../sandbox';

export interface OperationUnderTest {
	method: 'GET' | 'POST';
	parameters: INodeParameters;
	/** The number of offers or charges that the platform has created. */
	created: () => number;
}

export const OPERATIONS: Record<Endpoint, string> = {
	'GET /products': 'product/getAll',
	'GET /transactions/{hash}': 'transaction/get',
	'POST /products/{hash}/offers': 'offer/create',
	'POST /transactions': 'transaction/create',
};

/** @param hash of an existing transaction */
export function operationAt(endpoint: Endpoint, sandbox: Sandbox, hash = ''): OperationUnderTest {
	return {
		method: endpoint.startsWith('GET') ? 'GET' : 'POST',
		parameters: sampleOf(OPERATIONS[endpoint], sandbox, { transactionHash: hash }),
		created() {
			if (endpoint === 'POST /transactions') return sandbox.charges();
			return endpoint === 'POST /products/{hash}/offers' ? sandbox.offers.length : 0;
		},
	};
}
