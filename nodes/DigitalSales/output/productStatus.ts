import { PRODUCT_STATUSES } from '../api/schemas/product';

const NAMES: Readonly<Record<number, string>> = {
	[PRODUCT_STATUSES.active]: 'active',
	[PRODUCT_STATUSES.inactive]: 'inactive',
	[PRODUCT_STATUSES.inReview]: 'in review',
	[PRODUCT_STATUSES.blocked]: 'blocked',
};

/** The name of a product status code (API document, Product); an unknown code stays a number. */
export function productStatusName(status: number): string | number {
	return NAMES[status] ?? status;
}
