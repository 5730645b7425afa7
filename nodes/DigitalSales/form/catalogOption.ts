import type { INodeProperties } from 'n8n-workflow';

/** Whether blanks of the form are filled from the catalog. */
export const fillFromCatalogOption: INodeProperties = {
	displayName: 'Fill Blanks From Catalog',
	name: 'fillFromCatalog',
	type: 'boolean',
	default: true,
	description:
		'Whether to look up the title and price of an offer if you leave them blank, and its hash if you enter its address. The first lookup uses up to 5 of the 20 product requests a minute; the result is kept for 45 seconds. If you turn this off, blank fields stay blank.',
};
