import type { Notice } from '../api/schemas/notification';
import { isStatusGroup, STATUS_GROUPS } from '../domain/paymentStatus';
import { isSameText } from '../domain/searchText';
import { ANY, chosenNames, OTHER, type TriggerForm } from './triggerForm';

/** The names that a method goes by; what the service calls boleto is not documented. */
const METHOD_NAMES: Readonly<Record<string, readonly string[]>> = { boleto: ['boleto', 'billet'] };

/**
 * Why Trigger On or the filters do not want a transaction, in the words of the form; undefined where
 * they want it. It tells what the transaction is like, so it is for the owner of the form alone.
 */
export function whyUnwanted(form: TriggerForm, transaction: Notice): string | undefined {
	const { paymentMethods = [], productHashes = [] } = form.filters;
	const { status = '', paymentMethod = '', productHash = '' } = transaction;
	if (!wantsStatus(form, status)) {
		return `The status of the transaction is ${named(status)}; Trigger On asks for ${statusesOf(form)}.`;
	}
	const methods = paymentMethods.flatMap((method) => METHOD_NAMES[method] ?? [method]);
	if (methods.length > 0 && !methods.includes(paymentMethod)) {
		return `The payment method of the transaction is ${named(paymentMethod)}; Filters > Payment Methods asks for ${chosenNames('paymentMethods', paymentMethods)}.`;
	}
	if (productHashes.length > 0 && !productHashes.includes(productHash)) {
		return `The product of the transaction is ${named(productHash)}; Filters > Product Hashes asks for ${productHashes.join(', ')}.`;
	}
	return undefined;
}

function wantsStatus({ triggerOn, otherStatuses }: TriggerForm, status: string): boolean {
	if (triggerOn.includes(ANY)) return true;
	if (triggerOn.includes(OTHER) && otherStatuses.some((other) => isSameText(other, status))) {
		return true;
	}
	return triggerOn
		.filter(isStatusGroup)
		.some((group) => (STATUS_GROUPS[group] as readonly string[]).includes(status));
}

function statusesOf({ triggerOn, otherStatuses }: TriggerForm): string {
	const groups = chosenNames(
		'triggerOn',
		triggerOn.filter((value) => value !== OTHER),
	);
	const others = triggerOn.includes(OTHER) ? otherStatuses : [];
	return [groups, ...others].filter((part) => part !== '').join(', ') || 'nothing';
}

function named(value: string): string {
	return value === '' ? 'not stated' : value;
}
