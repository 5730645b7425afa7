import type { Transaction } from '../api/schemas/transaction';
import { formatReais } from '../domain/money';
import { isStatusGroup, STATUS_GROUPS } from '../domain/paymentStatus';
import { isSameText } from '../domain/text';
import { ANY, OTHER, type TriggerForm } from './form';

/** Which transactions start the workflow. */
export type Wanted = Omit<TriggerForm, 'simplify' | 'options'>;

/** Other names of a payment method; the API document does not show what the service calls boleto. */
const METHOD_NAMES: Readonly<Record<string, readonly string[]>> = { boleto: ['boleto', 'billet'] };

/**
 * Why Trigger On or the filters reject a transaction, in the words of the form; undefined if they
 * accept it. The text describes the transaction, so only the owner of the form may see it.
 */
export function whyUnwanted(wanted: Wanted, transaction: Transaction): string | undefined {
	const { payment_status: status, payment_method: method, offer, product, amount } = transaction;
	const { minimumAmount = -Infinity, paymentMethods } = wanted.filters;
	const offers = wanted.offers.map((one) => one.offer);
	const products = wanted.products.map((one) => one.product);
	const lists = (hashes: string[], hash: string | null | undefined): boolean =>
		hashes.length === 0 || hashes.includes(hash ?? '');
	if (!wantsStatus(wanted, status ?? '')) return unwanted('status', status, 'Trigger On');
	if (paymentMethods && !paymentMethods.some((one) => namesOf(one).includes(method ?? ''))) {
		return unwanted('payment method', method, 'Filters > Payment Methods');
	}
	if (!lists(offers, offer?.hash)) return unwanted('offer', offer?.hash, 'Offers');
	if (!lists(products, product?.hash)) return unwanted('product', product?.hash, 'Products');
	// An amount that is not stated, or cannot be read, is below any minimum.
	if ((amount ?? -1) >= minimumAmount) return undefined;
	const stated = amount == null ? 'not stated in cents' : formatReais(amount);
	return unwanted('amount', stated, 'Filters > Minimum Amount in Reais');
}

function unwanted(what: string, value: string | null | undefined, field: string): string {
	return `The ${what} of the transaction is ${value || 'not stated'}, which ${field} does not let in.`;
}

function wantsStatus(wanted: Wanted, status: string): boolean {
	const { triggerOn } = wanted;
	if (triggerOn.includes(ANY)) return true;
	if (othersOf(wanted).some((other) => isSameText(other, status))) return true;
	return triggerOn.filter(isStatusGroup).some((group) => STATUS_GROUPS[group].includes(status));
}

/** Other Statuses, which a form keeps when Trigger On no longer asks for them. */
function othersOf({ triggerOn, otherStatuses = [] }: Wanted): string[] {
	return triggerOn.includes(OTHER) ? otherStatuses : [];
}

function namesOf(method: string): readonly string[] {
	return METHOD_NAMES[method] ?? [method];
}
