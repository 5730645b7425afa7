import type { INodeParameters } from 'n8n-workflow';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import type { Sandbox } from '../sandbox';

/** The values in the samples. */
export interface SampleValues {
	/** A transaction that exists, or one that does not. */
	transactionHash: string;
	/** The price of the offer and of the item in the cart, in reais. */
	price?: string;
}

/**
 * One call of each operation with the fields that it needs, by `resource/operation`. The tests that
 * hold for every operation (previews, error items, faults, secrets) take their calls from here.
 */
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

/** The parameters of a node that makes the call. */
export function sampleOf(name: string, sandbox: Sandbox, values: SampleValues): INodeParameters {
	const parameters = samples(sandbox, values)[name];
	if (!parameters) throw new Error(`Add ${name} to test/helpers/samples.ts`);
	const [resource, operation] = name.split('/');
	return { resource, operation, ...parameters };
}

/** An operation of the action node, with its values and its labels. */
export interface OperationName {
	resource: string;
	value: string;
	/** For example "Product > Get Many". */
	label: string;
}

/** Every operation of the action node, in the order of its form. */
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
