import type { INodeParameters } from 'n8n-workflow';
import { sampleOf } from '../samples';
import type { Endpoint, Sandbox } from '../../sandbox';

/** One operation of the node with parameters that are right. */
export interface OperationUnderTest {
	method: 'GET' | 'POST';
	parameters: INodeParameters;
	/** How many things the operation has created in the service. */
	created: () => number;
}

/** One operation of the node for each endpoint of the service. */
export const OPERATIONS: Record<Endpoint, string> = {
	'GET /products': 'product/getAll',
	'GET /transactions/{hash}': 'transaction/get',
	'POST /products/{hash}/offers': 'offer/create',
	'POST /transactions': 'transaction/create',
};

/** The operation at an endpoint of the service; `hash` is a transaction that exists. */
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
