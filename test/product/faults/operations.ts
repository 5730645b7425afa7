import type { INodeParameters } from 'n8n-workflow';
import type { Endpoint, Sandbox } from '../../sandbox';

/** One operation of the node with parameters that are right. */
export interface OperationUnderTest {
	endpoint: Endpoint;
	method: 'GET' | 'POST';
	parameters: INodeParameters;
	options?: INodeParameters;
	/** How many things the operation has created in the service. */
	created: () => number;
}

/** An operation for each endpoint of the service; `hash` is a transaction that exists. */
export function operations(sandbox: Sandbox, hash: string): OperationUnderTest[] {
	const [product] = sandbox.products;
	const offer = product?.offers[0];
	if (!product || !offer) throw new Error('The catalog is empty');
	const locator = (value: string): INodeParameters => ({ __rl: true, mode: 'hash', value });
	return [
		{
			endpoint: 'GET /products',
			method: 'GET',
			parameters: { resource: 'product', operation: 'getAll', returnAll: false, limit: 3 },
			created: () => 0,
		},
		{
			endpoint: 'GET /transactions/{hash}',
			method: 'GET',
			parameters: { resource: 'transaction', operation: 'get', transactionHash: hash },
			created: () => 0,
		},
		{
			endpoint: 'POST /products/{hash}/offers',
			method: 'POST',
			parameters: {
				resource: 'offer',
				operation: 'create',
				productHash: locator(product.hash),
				title: 'Black Friday',
				price: '1990',
			},
			created: () => sandbox.offers.length,
		},
		{
			endpoint: 'POST /transactions',
			method: 'POST',
			parameters: {
				resource: 'transaction',
				operation: 'create',
				cart: { items: [{ offerHash: locator(offer.hash), price: '1990', quantity: 1 }] },
				customerName: '={{ $json.name ?? "Maria da Silva" }}',
				customerEmail: 'maria@example.com',
				customerPhone: '11912345678',
				customerDocument: '={{ $json.document ?? "52998224725" }}',
			},
			// Reading the catalog is tried on its own.
			options: { fillFromCatalog: false },
			created: () => sandbox.charges(),
		},
	];
}
