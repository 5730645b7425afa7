import { map } from 'lodash';
import type { Transaction } from '../api';
import {
	formatReais,
	groupOf,
	hasFailed,
	isLater,
	isSameText,
	isStatusGroup,
	type Status,
	STATUS_GROUPS,
} from '../domain';
import { ANY, OTHER, type TriggerForm } from './form';

export type Wanted = Omit<TriggerForm, 'simplify' | 'options'>;

/** Undefined if the form accepts the transaction. Only the owner of the form may see the text. */
export function rejectionReason(wanted: Wanted, transaction: Transaction): string | undefined {
	const { payment_status: status } = transaction;
	if (!isWantedStatus(wanted, status)) return describeMismatch('status', status, 'Trigger On');
	return filterMismatch(wanted, transaction);
}

function filterMismatch(wanted: Wanted, transaction: Transaction): string | undefined {
	const { payment_method: method, offer, product, amount } = transaction;
	const { minimumAmount = -Infinity, paymentMethods } = wanted.filters;
	if (paymentMethods && !paymentMethods.map(methodName).includes(methodName(method ?? ''))) {
		return describeMismatch('payment method', method, 'Filters > Payment Methods');
	}
	if (isExcluded(map(wanted.offers, 'offer'), offer?.hash)) {
		return describeMismatch('offer', offer?.hash, 'Offers');
	}
	if (isExcluded(map(wanted.products, 'product'), product?.hash)) {
		return describeMismatch('product', product?.hash, 'Products');
	}
	// An unknown amount is below any minimum.
	if ((amount ?? -1) >= minimumAmount) return undefined;
	const stated = amount == null ? 'not stated in cents' : formatReais(amount);
	return describeMismatch('amount', stated, 'Filters > Minimum Amount in Reais');
}

/** A later status changes neither offer nor product. */
export function isExcludedForGood(
	{ offers, products }: Wanted,
	{ offer, product }: Transaction,
): boolean {
	const isOtherOffer = offer?.hash != null && isExcluded(map(offers, 'offer'), offer.hash);
	const isOtherProduct =
		product?.hash != null && isExcluded(map(products, 'product'), product.hash);
	return isOtherOffer || isOtherProduct;
}

function isExcluded(hashes: string[], hash: string | null | undefined): boolean {
	return hashes.length > 0 && !hashes.includes(hash ?? '');
}

function describeMismatch(what: string, value: string | null | undefined, field: string): string {
	return `The ${what} of the transaction is ${value || 'not stated'}, which does not match ${field}.`;
}

/** The API document shows no name for boleto. */
function methodName(method: string): string {
	const name = method.toLowerCase();
	return name === 'billet' ? 'boleto' : name;
}

export function isSameStatus(one: Status, other: Status): boolean {
	return isSameText((one ?? '').toLowerCase(), (other ?? '').toLowerCase());
}

export function isWantedStatus(wanted: Wanted, status: Status): boolean {
	return wanted.triggerOn.includes(ANY) || isNamedStatus(wanted, status);
}

function isNamedStatus(wanted: Wanted, status: Status): boolean {
	return namedStatuses(wanted).some((named) => isSameStatus(named, status));
}

function namedStatuses({ triggerOn, otherStatuses = [] }: Wanted): string[] {
	const groups = triggerOn.filter(isStatusGroup);
	// The form keeps Other Statuses when Trigger On no longer asks for them.
	const others = triggerOn.includes(OTHER) ? otherStatuses : [];
	return [...groups.flatMap((group) => STATUS_GROUPS[group]), ...others];
}

const COMMON_LAG_MS = 3_000;
const LONGEST_LAG_MS = 120_000;

interface Comparison {
	read: Status;
	claimed: Status;
	/** Between the webhook (its first copy, if it was repeated) and the start of the read. */
	claimedForMs: number;
	/** Whether the status that was read has started the workflow. */
	isHandedOver: boolean;
}

/** Whether the read may be older than the webhook. A read of an earlier status than a known, wanted claim always may be. */
export function mayBeOutdated(wanted: Wanted, comparison: Comparison): boolean {
	const { read, claimed, claimedForMs, isHandedOver } = comparison;
	if (claimed != null && isSameStatus(read, claimed)) return false;
	const isReadWanted = isWantedStatus(wanted, read);
	const mayLag = claimedForMs < LONGEST_LAG_MS;
	const isSoon = claimedForMs < COMMON_LAG_MS;
	// A wanted status may be the old one soon after the webhook, because it may have started the workflow before a restart
	// or on another worker; later, only if it started the workflow here.
	const mayBeOldStatus = isSoon || !isReadWanted || (isHandedOver && mayLag);
	// Reads may not show yet that a new payment follows a refused one.
	const isPast = (status: Status) => isLater(read, status) && !(isSoon && hasFailed(read));
	const isClaimKnown = groupOf(claimed) !== undefined || isNamedStatus(wanted, claimed);
	if (!isClaimKnown) {
		const isEnded = (named: string) => isSameStatus(read, named) || isPast(named);
		const mayFollow = wanted.triggerOn.includes(ANY) || !namedStatuses(wanted).every(isEnded);
		return mayLag && mayBeOldStatus && mayFollow;
	}
	// A read status without a group counts as waiting. After the longest lag, a wanted one may be another word for the claim.
	const isReadEarlier = groupOf(read)
		? isLater(claimed, read)
		: isLater(claimed, 'waiting_payment') && (mayLag || !isReadWanted);
	if (!isWantedStatus(wanted, claimed)) return isReadEarlier && isReadWanted && !isHandedOver;
	return isReadEarlier || (mayBeOldStatus && !isPast(claimed));
}
