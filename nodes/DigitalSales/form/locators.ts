import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { isUsableHash } from '../domain/hash';
import { hashInAddress } from '../domain/webAddress';
import { heldBy } from './readForm';
import { cleanTextField } from './fields';
import { field } from './formOf';

/** What a locator holds. */
export interface Located {
	/** As given, or as read from the address. */
	hash: string;
	/** The address that the hash was read from; the catalog may know the hash better. */
	address?: string;
}

/** The hash or address that a locator holds; a plain text from an expression counts as well. */
export const locatorField = z
	.unknown()
	.transform((input) => heldBy(input) ?? '')
	.pipe(cleanTextField)
	.transform((text, context): Located => {
		const isAddress = /^https?:\/\//i.test(text);
		const hash = isAddress ? hashInAddress(text) : text;
		if (hash !== undefined && isUsableHash(hash)) {
			return isAddress ? { hash, address: text } : { hash };
		}
		context.addIssue({ code: 'custom', message: problemOf(text, isAddress) });
		return z.NEVER;
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

function problemOf(text: string, isAddress: boolean): string {
	if (isAddress) return 'is an address without a hash; choose from the list or enter the hash';
	return text === '' ? 'is empty; choose one or enter its hash' : 'is not a hash';
}

interface Texts {
	choose: string;
	searchMethod: string;
	hash: string;
	address: string;
	page: string;
}

/** A list of a large catalog takes seconds, and waits if the rate limit is used up. */
const SLOW_LOAD_NOTICE = {
	message: 'The list is read from the service. If it takes too long, enter the hash with By Hash.',
	timeout: 5_000,
};

/** Ways to pick something: from the searchable list, or by its hash. */
export function listedBy({ choose, searchMethod, hash }: Omit<Texts, 'address' | 'page'>) {
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

/** The same, or by the address of its page. */
function pickedBy({ address, page, ...texts }: Texts) {
	const { modes, ...property } = listedBy(texts);
	return {
		...property,
		modes: [
			...modes,
			{
				displayName: 'By URL',
				name: 'url',
				type: 'string',
				placeholder: address,
				hint: `The address of its ${page}. The node looks it up in the catalog; if it is not there, the last part of its path is used as the hash.`,
			},
		],
	} satisfies Partial<INodeProperties>;
}

export const productLocator = field({
	displayName: 'Product',
	name: 'productHash',
	required: true,
	...pickedBy({
		choose: 'Choose a product ...',
		searchMethod: 'searchProducts',
		hash: 'e.g. prodab12cd',
		address: 'e.g. https://www.example.com/p/prodab12cd',
		page: 'sales page',
	}),
	description: 'The product that the offer sells',
	weight: 'decides',
	reads: locatorField,
});

export const offerLocator = field({
	displayName: 'Offer',
	name: 'offerHash',
	...pickedBy({
		choose: 'Choose an offer ...',
		searchMethod: 'searchOffers',
		hash: 'e.g. offer12ab',
		address: 'e.g. https://pay.example.com/offer12ab',
		page: 'checkout',
	}),
	description:
		'The offer that the customer buys. Its price and title come from the catalog if you leave them empty.',
	weight: 'decides',
	sentAs: 'offer_hash',
	reads: optionalLocatorField,
});
