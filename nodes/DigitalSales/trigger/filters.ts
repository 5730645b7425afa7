import { map } from 'lodash';
import type { Transaction } from '../api';
import {
	formatReais,
	groupOf,
	isLater,
	isSameStatus,
	isStatusGroup,
	type Status,
	STATUS_GROUPS,
} from '../domain';
import { ANY, OTHER } from '../form';
import type { TriggerForm } from './form';

/** Undefined if the form accepts the transaction. Only the owner of the form may see the text. */
export function rejectionReason(form: TriggerForm, transaction: Transaction): string | undefined {
	const { offer, product, amount } = transaction;
	const status = transaction.payment_status;
	const method = transaction.payment_method;
	const { minimumAmount = -Infinity, paymentMethods } = form.filters;

	if (!isWantedStatus(form, status)) return describeMismatch('status', status, 'Trigger On');
	if (
		paymentMethods &&
		!paymentMethods.map(normalizeMethod).includes(normalizeMethod(method ?? ''))
	) {
		return describeMismatch('payment method', method, 'Filters > Payment Methods');
	}
	if (isExcluded(map(form.filters.offers, 'offer'), offer?.hash)) {
		return describeMismatch('offer', offer?.hash, 'Filters > Offers');
	}
	if (isExcluded(map(form.products, 'product'), product?.hash)) {
		return describeMismatch('product', product?.hash, 'Products');
	}

	// An unknown amount is below any minimum.
	if ((amount ?? -1) >= minimumAmount) return undefined;
	const stated = amount == null ? 'not stated in cents' : formatReais(amount);
	return describeMismatch('amount', stated, 'Filters > Minimum Amount in Reais');
}

/** A later status changes neither offer nor product. */
export function isExcludedForGood(
	{ filters, products }: TriggerForm,
	{ offer, product }: Transaction,
): boolean {
	const offers = map(filters.offers, 'offer');
	if (offer?.hash != null && isExcluded(offers, offer.hash)) return true;
	return product?.hash != null && isExcluded(map(products, 'product'), product.hash);
}

function isExcluded(hashes: string[], hash: string | null | undefined): boolean {
	return hashes.length > 0 && !hashes.includes(hash ?? '');
}

function describeMismatch(what: string, value: string | null | undefined, field: string): string {
	return `The ${what} of the transaction is ${value || 'not stated'}, which does not match ${field}.`;
}

/** The API document shows no name for boleto, and some platforms write `billet`. */
function normalizeMethod(method: string): string {
	return method.toLowerCase().replace(/^billet$/, 'boleto');
}

export function isWantedStatus(form: TriggerForm, status: Status): boolean {
	return form.triggerOn.includes(ANY) || isListedStatus(form, status);
}

function isListedStatus({ triggerOn, otherStatuses = [] }: TriggerForm, status: Status): boolean {
	const groups = triggerOn.filter(isStatusGroup);
	// The form keeps Other Statuses when Trigger On no longer asks for them.
	const others = triggerOn.includes(OTHER) ? otherStatuses : [];
	const listed = [...groups.flatMap((group) => STATUS_GROUPS[group]), ...others];
	return listed.some((one) => isSameStatus(one, status));
}

/** Whether reads can be compared with a status: the form lists it, or wants any status, and this one has a known word. */
export function canLookFor(form: TriggerForm, status: Status): boolean {
	const isKnown = groupOf(status) !== undefined;
	return isListedStatus(form, status) || (isKnown && form.triggerOn.includes(ANY));
}

/** Whether reads may still show a status that a webhook claims. */
export function mayFollow(form: TriggerForm, status: Status, read: Transaction): boolean {
	if (!canLookFor(form, status) || isExcludedForGood(form, read)) return false;
	return !isSameStatus(status, read.payment_status) && !isLater(read.payment_status, status);
}
