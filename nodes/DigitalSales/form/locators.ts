import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';
import { heldBy } from './readForm';
import { hashField, required } from './fields';
import { field } from './formOf';

/** What a locator holds, as a schema reads it; a plain text from an expression counts as well. */
export function located<T extends z.ZodTypeAny>(reads: T) {
	return z.unknown().transform(heldBy).pipe(reads);
}

/** A list of a large catalog takes seconds, and waits if the rate limit is used up. */
const SLOW_LOAD_NOTICE = {
	message: 'The list is read from the service. If it takes too long, enter the hash with By Hash.',
	timeout: 5_000,
};

/** Ways to pick something: from the searchable list, or by its hash. */
function picked({
	choose,
	searchMethod,
	hash,
}: {
	choose: string;
	searchMethod: string;
	hash: string;
}) {
	return {
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder: choose,
				typeOptions: {
					searchListMethod: searchMethod,
					searchable: true,
					slowLoadNotice: SLOW_LOAD_NOTICE,
				},
			},
			{
				displayName: 'By Hash',
				name: 'hash',
				type: 'string',
				placeholder: hash,
				hint: 'Its code in the dashboard of the service',
			},
		],
	} satisfies Partial<INodeProperties>;
}

/** The ways to pick a product. */
export const PICKED_PRODUCT = picked({
	choose: 'Choose a product ...',
	searchMethod: 'searchProducts',
	hash: 'e.g. prodab12cd',
});

/** The ways to pick an offer. */
export const PICKED_OFFER = picked({
	choose: 'Choose an offer ...',
	searchMethod: 'searchOffers',
	hash: 'e.g. offer12ab',
});

export const productLocator = field({
	displayName: 'Product',
	name: 'productHash',
	required: true,
	...PICKED_PRODUCT,
	description: 'The product that the offer sells',
	weight: 'decides',
	reads: located(required(hashField)),
});

export const offerLocator = field({
	displayName: 'Offer',
	name: 'offerHash',
	required: true,
	...PICKED_OFFER,
	description:
		'The offer that the customer buys. Its price and title come from the catalog if you leave them empty.',
	weight: 'decides',
	sentAs: 'offer_hash',
	reads: located(required(hashField)),
});
