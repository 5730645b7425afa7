import type { Transaction } from '../api/schemas/transaction';
import { formatReais } from '../domain/money';
import {
	groupOf,
	isLater,
	isStatusGroup,
	type Status,
	STATUS_GROUPS,
} from '../domain/paymentStatus';
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
	if (wanted.triggerOn.includes(ANY)) return true;
	return wantedStatuses(wanted).some((one) => isSameStatus(one, status));
}

function wantedStatuses(wanted: Wanted): string[] {
	const groups = wanted.triggerOn.filter(isStatusGroup);
	return [...groups.flatMap((group) => STATUS_GROUPS[group]), ...othersOf(wanted)];
}

export function isSameStatus(one: Status, other: Status): boolean {
	return isSameText((one ?? '').toLowerCase(), (other ?? '').toLowerCase());
}

/**
 * Whether a read may be older than a notice, so that a wanted status is still to come: it shows an earlier status than
 * the claimed one, or nothing new that is wanted. A word that nobody knows claims nothing.
 *
 * @param isHandedOver whether the status that was read has started the workflow
 */
export function isBehind(
	wanted: Wanted,
	{ read, claimed, isHandedOver }: { read: Status; claimed: Status; isHandedOver: boolean },
): boolean {
	const wants = (status: Status): boolean => wantsStatus(wanted, status ?? '');
	const isKnown = claimed != null && (groupOf(claimed) !== undefined || wants(claimed));
	if (!isKnown) return !wants(read) && wantedStatuses(wanted).some((one) => !isLater(read, one));
	if (isSameStatus(read, claimed)) return false;
	// A read of an unknown word is taken for one of a payment that is still open.
	const isEarlier = isLater(claimed, groupOf(read) ? read : 'waiting_payment');
	if (!wants(claimed)) return isEarlier && wants(read);
	return isEarlier || (!isLater(read, claimed) && (isHandedOver || !wants(read)));
}

/** Other Statuses, which a form keeps when Trigger On no longer asks for them. */
function othersOf({ triggerOn, otherStatuses = [] }: Wanted): string[] {
	return triggerOn.includes(OTHER) ? otherStatuses : [];
}

function namesOf(method: string): readonly string[] {
	return METHOD_NAMES[method] ?? [method];
}
