import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { isUsableHash } from '../domain/hash';
import { heldBy } from './readForm';
import { cleanTextField } from './fields';
import { field } from './formOf';

/** The hash that a locator holds; a plain text from an expression counts as well. */
export const locatorField = z
	.unknown()
	.transform((input) => heldBy(input) ?? '')
	.pipe(cleanTextField)
	.superRefine((text, context) => {
		const message = problemOf(text);
		if (message !== undefined) context.addIssue({ code: 'custom', message });
	});

/**
 * A locator that may be left empty.
 *
 * @internal
 */
export const optionalLocatorField = z
	.unknown()
	.transform((input) =>
		[undefined, null, ''].some((blank) => blank === heldBy(input)) ? undefined : input,
	)
	.pipe(locatorField.optional());

function problemOf(text: string): string | undefined {
	if (text === '') return 'is empty; choose one or enter its hash';
	if (/^https?:\/\//i.test(text)) {
		return 'is an address, not a hash; choose from the list or enter the hash';
	}
	return isUsableHash(text) ? undefined : 'is not a hash';
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
	reads: locatorField,
});

export const offerLocator = field({
	displayName: 'Offer',
	name: 'offerHash',
	...PICKED_OFFER,
	description:
		'The offer that the customer buys. Its price and title come from the catalog if you leave them empty.',
	weight: 'decides',
	sentAs: 'offer_hash',
	reads: optionalLocatorField,
});
