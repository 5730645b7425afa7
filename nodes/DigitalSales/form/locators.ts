import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';
import { defineField, defineList } from './defineForm';
import { locatorValue } from './expressions';
import { hashSchema, rejectBlank } from './fields';

/* Fields that hold the hash of a product, an offer or a transaction. */

/** The value is n8n's locator object, or plain text from an expression. */
const pickedHash = z.unknown().transform(locatorValue).pipe(rejectBlank(hashSchema));

function locatorModes(searchListMethod: string, prompt: string, exampleHash: string) {
	return {
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder: prompt,
				typeOptions: {
					searchListMethod,
					searchable: true,
					// A large catalog takes seconds, and may have to wait for the rate limit.
					slowLoadNotice: {
						message:
							'The list is read from the platform. If it takes too long, enter the hash with By Hash.',
						timeout: 5_000,
					},
				},
			},
			{
				displayName: 'By Hash',
				name: 'hash',
				type: 'string',
				placeholder: exampleHash,
				hint: 'Its code on your platform',
			},
		],
	} satisfies Partial<INodeProperties>;
}

const PRODUCT_MODES = locatorModes('searchProducts', 'Choose a product ...', 'e.g. prodab12cd');

const OFFER_MODES = locatorModes('searchOffers', 'Choose an offer ...', 'e.g. offer12ab');

export const productLocator = defineField({
	displayName: 'Product',
	name: 'productHash',
	required: true,
	...PRODUCT_MODES,
	description: 'The product that the offer sells',
	purpose: 'decides',
	reads: pickedHash,
});

export const offerLocator = defineField({
	displayName: 'Offer',
	name: 'offerHash',
	required: true,
	...OFFER_MODES,
	description:
		'The offer that the customer buys. Its price and title come from the catalog if you leave them empty.',
	purpose: 'decides',
	sentAs: 'offer_hash',
	reads: pickedHash,
});

export const transactionHashField = defineField({
	displayName: 'Transaction Hash',
	name: 'transactionHash',
	type: 'string',
	required: true,
	default: '={{ $json.hash }}',
	placeholder: 'e.g. ab12cd34ef',
	description:
		'The hash of the transaction. By default the field "hash" of the input item, which Create PIX and the trigger return.',
	sentAs: 'hash',
	reads: rejectBlank(hashSchema),
});

function soldList<const N extends string>(name: N, label: string, picked: typeof PRODUCT_MODES) {
	const description = `The ${name} that was sold`;
	const entry = { displayName: label, name, required: true, description, ...picked };
	const spec = {
		placeholder: `Add ${label}`,
		description: `Only sales of these ${name}s (the main ${name} of the cart). Empty: all sales.`,
		entryName: label,
	};

	return defineList(`${label}s`, `${name}s` as const, spec, [
		defineField({ ...entry, reads: pickedHash }),
	]);
}

/** Not part of Filters, because n8n drops an empty list there, so a forgotten entry would accept every sale. */
export const soldProducts = soldList('product', 'Product', PRODUCT_MODES);
export const soldOffers = soldList('offer', 'Offer', OFFER_MODES);
