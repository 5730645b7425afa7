import findKey from 'lodash/findKey';
import lowerCase from 'lodash/lowerCase';
import { PRODUCT_STATUSES } from '../api/schemas/product';

/** The name of a product status code (API document, Product); an unknown code stays a number. */
export function productStatusName(status: number): string | number {
	return lowerCase(findKey(PRODUCT_STATUSES, (code) => code === status)) || status;
}
