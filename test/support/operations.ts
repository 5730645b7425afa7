import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';

/** An operation of the action node, by its values and by the names that a person reads. */
export interface OperationName {
	resource: string;
	value: string;
	/** Such as "Product > Get Many". */
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
