import type { INodeProperties } from 'n8n-workflow';

/** Whether blanks of the form are filled from the catalog. */
export const fillFromCatalogOption: INodeProperties = {
	displayName: 'Fill Blanks From Catalog',
	name: 'fillFromCatalog',
	type: 'boolean',
	default: true,
	description:
		'Whether to look up the title, price and cover of an offer where they are left blank. The first look spends up to 5 of the 20 product requests a minute; what was read is remembered for 45 seconds. Switched off, blanks stay blank.',
};
