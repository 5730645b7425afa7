import type { INodePropertyOptions } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { formatReais } from '../domain/money';
import { isStatusGroup, STATUS_GROUPS } from '../domain/paymentStatus';
import { isSameText } from '../domain/text';
import { ANY, OTHER, PAYMENT_METHOD_OPTIONS, TRIGGER_ON_OPTIONS, type TriggerForm } from './form';

/** Which transactions start the workflow. */
export type Wanted = Omit<TriggerForm, 'simplify' | 'options'>;

/** Other names of a payment method; the API document does not show what the service calls boleto. */
const METHOD_NAMES: Readonly<Record<string, readonly string[]>> = { boleto: ['boleto', 'billet'] };

/**
 * Why Trigger On or the filters reject a transaction, in the words of the form; undefined if they
 * accept it. The text describes the transaction, so only the owner of the form may see it.
 */
export function whyUnwanted(wanted: Wanted, transaction: Transaction): string | undefined {
	const status = transaction.payment_status ?? '';
	const { minimumAmount, paymentMethods } = wanted.filters;
	const method = transaction.payment_method ?? '';
	const offer = transaction.offer?.hash ?? '';
	const product = transaction.product?.hash ?? '';
	const offers = wanted.offers.map((one) => one.offer);
	const products = wanted.products.map((one) => one.product);
	if (!wantsStatus(wanted, status)) {
		return `The status of the transaction is ${stated(status)}; Trigger On asks for ${statusNames(wanted)}.`;
	}
	if (paymentMethods && !paymentMethods.some((one) => namesOf(one).includes(method))) {
		return `The payment method of the transaction is ${stated(method)}; Filters > Payment Methods asks for ${optionNames(PAYMENT_METHOD_OPTIONS, paymentMethods)}.`;
	}
	if (offers.length > 0 && !offers.includes(offer)) {
		return `The offer of the transaction is ${stated(offer)}; Offers asks for ${offers.join(', ')}.`;
	}
	if (products.length > 0 && !products.includes(product)) {
		return `The product of the transaction is ${stated(product)}; Products asks for ${products.join(', ')}.`;
	}
	if (minimumAmount !== undefined && !((transaction.amount ?? -1) >= minimumAmount)) {
		return `The amount of the transaction ${statedAmount(transaction)}; Filters > Minimum Amount in Reais asks for ${formatReais(minimumAmount)} or more.`;
	}
	return undefined;
}

function wantsStatus(wanted: Wanted, status: string): boolean {
	const { triggerOn } = wanted;
	if (triggerOn.includes(ANY)) return true;
	if (othersOf(wanted).some((other) => isSameText(other, status))) return true;
	return triggerOn.filter(isStatusGroup).some((group) => STATUS_GROUPS[group].includes(status));
}

/** What Trigger On asks for, in the words of the form. */
function statusNames(wanted: Wanted): string {
	const groups = wanted.triggerOn.filter((value) => value !== OTHER);
	const names = [optionNames(TRIGGER_ON_OPTIONS, groups), ...othersOf(wanted)];
	return names.filter((name) => name !== '').join(', ');
}

/** Other Statuses, which a form keeps when Trigger On no longer asks for them. */
function othersOf({ triggerOn, otherStatuses = [] }: Wanted): string[] {
	return triggerOn.includes(OTHER) ? otherStatuses : [];
}

function namesOf(method: string): readonly string[] {
	return METHOD_NAMES[method] ?? [method];
}

function statedAmount({ amount, json }: Transaction): string {
	if (amount != null) return `is ${formatReais(amount)}`;
	return json.amount == null || json.amount === '' ? 'is not stated' : 'cannot be read';
}

/** A value of a transaction, for people. */
function stated(value: string): string {
	return value === '' ? 'not stated' : value;
}

/** The names of options in the form. */
function optionNames(options: INodePropertyOptions[], values: readonly string[]): string {
	return values
		.map((value) => options.find((option) => option.value === value)?.name ?? value)
		.join(', ');
}
