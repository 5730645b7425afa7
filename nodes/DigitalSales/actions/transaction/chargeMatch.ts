import { compact, map } from 'lodash';
import type { Transaction } from '../../api';
import {
	type Contact,
	formatReais,
	normalizeContact,
	parseDocument,
	quoteText,
	typedAmount,
} from '../../domain';
import type { Charge } from './charge';

export const DOCUMENT = 'Customer CPF or CNPJ';

const LABELS = {
	document: DOCUMENT,
	email: 'Customer Email',
	phone: 'Customer Phone',
	name: 'Customer Name',
};
type Field = keyof Contact;

const CONTACT: Field[] = ['document', 'email', 'phone'];

/** The fields that a charge and a transaction both state, unmasked, with whether the values differ. */
function compareFields({ contact: requested }: Charge, { customer }: Transaction, fields: Field[]) {
	const stated = normalizeContact(customer ?? {});
	return fields
		.filter((field) => requested[field] && !isMasked(field, stated[field]))
		.map((field) => ({ field, isDifferent: requested[field] !== stated[field] }));
}

export function findDifferingFields(charge: Charge, transaction: Transaction): string[] {
	return compareFields(charge, transaction, CONTACT)
		.filter(({ isDifferent }) => isDifferent)
		.map(({ field }) => LABELS[field]);
}

/** Says how a transaction differs from the requested charge. A document is not enough, because several people may share it. */
export function findDifferences(charge: Charge, transaction: Transaction): string[] {
	const { amount, offer } = transaction;
	const contact = compareFields(charge, transaction, CONTACT);
	const compared = contact.length > 0 ? contact : compareFields(charge, transaction, ['name']);
	if (compared.length === 0) return ['no customer that can be compared'];
	const differing = compared.filter(({ isDifferent }) => isDifferent);
	// An error shows nothing of another customer's charge.
	if (differing.length > 0) return differing.map(({ field }) => `another ${LABELS[field]}`);
	// Custom Fields may name the offer beside the cart.
	const offers = compact([charge.body.offer_hash, ...map(charge.cart, 'offer_hash')]);
	const isOtherOffer = offer?.hash != null && offers.length > 0 && !offers.includes(offer.hash);
	return compact([
		isOtherOffer && `another Offer (${quoteText(offer.hash ?? '')})`,
		amount != null &&
			amount !== charge.amount &&
			`another amount (${formatReais(amount)}; to accept it, set Additional Fields > Amount in Reais to ${typedAmount(amount)} in a new execution with this item alone, then remove it)`,
	]);
}

const SHORTEST_PHONE = 10;

function isMasked(field: Field, value = ''): boolean {
	if (field === 'document') return !('value' in parseDocument(value));
	// Masked digits are missing.
	if (field === 'phone') return value.length < SHORTEST_PHONE;
	return value === '' || /[*•●]/.test(value);
}
