import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { DigitalSalesApi } from '../../../../credentials/DigitalSalesApi.credentials';
import { DigitalSales } from '../../../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesTrigger } from '../../../../nodes/DigitalSales/DigitalSalesTrigger.node';
import type { FormTable } from './table';
import { credential } from './tables/credential';
import { getAddress } from './tables/notification';
import { createOffer } from './tables/offer';
import { listProducts } from './tables/product';
import { createPix, getTransaction, waitForPayment } from './tables/transaction';
import { trigger } from './tables/trigger';

/** A form of the package beside the table that says how it has to be. */
export interface Form {
	table: FormTable;
	properties: INodeProperties[];
	/** The node that it belongs to; a credential has none. */
	description: INodeTypeDescription | null;
}

/** The action node, whose form depends on the chosen operation. */
export const action = new DigitalSales().description;

/** The fields by which an operation is chosen. */
export const CHOOSERS = ['resource', 'operation'];

function operationForm(table: FormTable): Form {
	const properties = action.properties.filter(
		({ name, displayOptions }) =>
			!CHOOSERS.includes(name) &&
			Object.entries(table.chosenBy).every(([chooser, value]) =>
				displayOptions?.show?.[chooser]?.includes(value),
			),
	);
	return { table, properties, description: action };
}

const triggerDescription = new DigitalSalesTrigger().description;

/** Every form of the package. */
export const FORMS: Form[] = [
	...[listProducts, createOffer, createPix, getTransaction, waitForPayment, getAddress].map(
		operationForm,
	),
	{ table: trigger, properties: triggerDescription.properties, description: triggerDescription },
	{ table: credential, properties: new DigitalSalesApi().properties, description: null },
];
