import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { isUsableHash } from '../domain/hash';
import { isJsonObject } from '../api/schemas/json';

const HASH_VALIDATION = {
	type: 'regex' as const,
	properties: { regex: '^(?!\\s*\\.{1,2}\\s*$).*\\S.*$', errorMessage: 'Not a valid hash' },
};

/** Picks one product: from the searchable list, or by its hash. */
export function productLocator(
	property: Pick<INodeProperties, 'description' | 'required'>,
): INodeProperties {
	return {
		displayName: 'Product',
		name: 'productHash',
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder: 'Choose a product ...',
				typeOptions: { searchListMethod: 'searchProducts', searchable: true },
			},
			{
				displayName: 'By Hash',
				name: 'hash',
				type: 'string',
				placeholder: 'e.g. prodab12cd',
				validation: [HASH_VALIDATION],
			},
		],
		...property,
	};
}

/** Picks one offer: from the offers of the searchable product list, or by its hash. */
export function offerLocator(
	property: Pick<INodeProperties, 'description' | 'required'>,
): INodeProperties {
	return {
		displayName: 'Offer',
		name: 'offerHash',
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder: 'Choose an offer ...',
				typeOptions: { searchListMethod: 'searchOffers', searchable: true },
			},
			{
				displayName: 'By Hash',
				name: 'hash',
				type: 'string',
				placeholder: 'e.g. offer12ab',
				validation: [HASH_VALIDATION],
			},
		],
		...property,
	};
}

/** The hash that a resource locator holds; a plain text from an expression is taken as the hash. */
export const locatorField = z.unknown().transform((input, context): string => {
	const value: unknown = isJsonObject(input) && '__rl' in input ? input.value : input;
	const hash = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
	if (isUsableHash(hash)) return hash;
	context.addIssue({
		code: 'custom',
		message: hash === '' ? 'is empty; choose one or enter its hash' : 'is not a hash',
	});
	return z.NEVER;
});

/** A locator that may be left empty. */
export const optionalLocatorField = z.unknown().transform((input, context): string | undefined => {
	const value: unknown = isJsonObject(input) && '__rl' in input ? input.value : input;
	if (value === undefined || value === null || value === '') return undefined;
	const result = locatorField.safeParse(input);
	if (result.success) return result.data;
	for (const { message } of result.error.issues) context.addIssue({ code: 'custom', message });
	return z.NEVER;
});
