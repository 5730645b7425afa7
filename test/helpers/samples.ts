import type { INodeParameters } from 'n8n-workflow';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import type { Sandbox } from '../sandbox';

export interface SampleValues {
	/** The transaction need not exist. */
	transactionHash: string;
	/** The price of the offer and of the item in the cart, in reais. */
	price?: string;
}

/** The fields that each operation needs, by `resource/operation`, for tests that hold for every operation. */
function samples(
	sandbox: Sandbox,
	{ transactionHash, price = '19,90' }: SampleValues,
): Record<string, INodeParameters> {
	const [product] = sandbox.products;
	const offer = product?.offers[0];
	if (!product || !offer) throw new Error('The catalog is empty');
	const locator = (value: string): INodeParameters => ({ __rl: true, mode: 'hash', value });
	return {
		'product/getAll': { limit: 3 },
		'offer/create': {
			productHash: locator(product.hash),
			title: 'Black Friday',
			price,
			additionalFields: { interval: 'monthly' },
		},
		'transaction/create': {
			cart: {
				items: [{ offerHash: locator(offer.hash), price, quantity: 1, more: { title: 'Curso' } }],
			},
			customerName: 'Maria da Silva',
			customerEmail: 'maria@example.com',
			customerPhone: '11912345678',
			customerDocument: '52998224725',
		},
		'transaction/get': { transactionHash },
		'transaction/waitForPayment': { transactionHash },
	};
}

export function sampleOf(name: string, sandbox: Sandbox, values: SampleValues): INodeParameters {
	const parameters = samples(sandbox, values)[name];
	if (!parameters) throw new Error(`Add ${name} to test/helpers/samples.ts`);
	const [resource, operation] = name.split('/');
	return { resource, operation, ...parameters };
}

export interface OperationName {
	resource: string;
	value: string;
	/** For example "Product > Get Many". */
	label: string;
}

/** In the order of the form. */
export function everyOperation(): OperationName[] {
	const { properties } = new DigitalSales().description;
	const resources = properties.find(({ name }) => name === 'resource')?.options ?? [];
	return resources.flatMap((one) => {
		if (!('value' in one)) return [];
		const resource = String(one.value);
		const field = properties.find(
			({ name, displayOptions }) =>
				name === 'operation' && displayOptions?.show?.resource?.includes(resource),
		);
		return (field?.options ?? []).flatMap((option) =>
			'value' in option
				? [{ resource, value: String(option.value), label: `${one.name} > ${option.name}` }]
				: [],
		);
	});
}
