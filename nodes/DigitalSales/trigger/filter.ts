import type { Notice } from '../notice/parse';
import { formatReais } from '../domain/money';
import { isStatusGroup, STATUS_GROUPS } from '../domain/paymentStatus';
import { isSameText } from '../domain/searchText';
import { ANY, chosenNames, OTHER, type Wanted } from './form';

/** The names that a method goes by; what the service calls boleto is not documented. */
const METHOD_NAMES: Readonly<Record<string, readonly string[]>> = { boleto: ['boleto', 'billet'] };

/**
 * Why Trigger On or the filters do not want a transaction, in the words of the form; undefined where
 * they want it. It tells what the transaction is like, so it is for the owner of the form alone.
 */
export function whyUnwanted(wanted: Wanted, transaction: Notice): string | undefined {
	const { paymentMethods, offerHashes, productHashes, minimumAmount } = wanted.filters;
	const { status = '', paymentMethod = '', offerHash = '', productHash = '' } = transaction;
	if (!wantsStatus(wanted, status)) {
		return `The status of the transaction is ${named(status)}; Trigger On asks for ${statusesOf(wanted)}.`;
	}
	const methods = paymentMethods?.flatMap((method) => METHOD_NAMES[method] ?? [method]);
	if (paymentMethods && !methods?.includes(paymentMethod)) {
		return `The payment method of the transaction is ${named(paymentMethod)}; Filters > Payment Methods asks for ${chosenNames('paymentMethods', paymentMethods)}.`;
	}
	if (offerHashes && !offerHashes.includes(offerHash)) {
		return `The offer of the transaction is ${named(offerHash)}; Filters > Offer Hashes asks for ${offerHashes.join(', ')}.`;
	}
	if (productHashes && !productHashes.includes(productHash)) {
		return `The product of the transaction is ${named(productHash)}; Filters > Product Hashes asks for ${productHashes.join(', ')}.`;
	}
	const { amount } = transaction;
	if (minimumAmount !== undefined && !(typeof amount === 'number' && amount >= minimumAmount)) {
		return `The amount of the transaction ${amountAsStated(amount)}; Filters > Minimum Amount in Reais asks for ${formatReais(minimumAmount)} or more.`;
	}
	return undefined;
}

function wantsStatus({ triggerOn, otherStatuses = [] }: Wanted, status: string): boolean {
	if (triggerOn.includes(ANY)) return true;
	if (otherStatuses.some((other) => isSameText(other, status))) return true;
	return triggerOn
		.filter(isStatusGroup)
		.some((group) => (STATUS_GROUPS[group] as readonly string[]).includes(status));
}

function statusesOf({ triggerOn, otherStatuses = [] }: Wanted): string {
	const groups = chosenNames(
		'triggerOn',
		triggerOn.filter((value) => value !== OTHER),
	);
	return [groups, ...otherStatuses].filter((part) => part !== '').join(', ');
}

function amountAsStated(amount: Notice['amount']): string {
	if (amount === undefined) return 'is not stated';
	return amount === 'unreadable' ? 'cannot be read' : `is ${formatReais(amount)}`;
}

function named(value: string): string {
	return value === '' ? 'not stated' : value;
}
