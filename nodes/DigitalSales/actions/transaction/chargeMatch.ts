import type { Transaction } from '../../api';
import { type Contact, formatReais, normalizeContact, parseDocument } from '../../domain';
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

/** Says how a transaction differs from the requested charge. Behind an equal CPF, the contact may differ. */
export function findDifferences(charge: Charge, transaction: Transaction): string[] {
	const { amount } = transaction;
	const byCertainty: Field[][] = [['document'], ['email', 'phone'], ['name']];
	const compared = byCertainty
		.map((fields) => compareFields(charge, transaction, fields))
		.find(({ length }) => length > 0);
	if (!compared) return ['names no customer that can be compared'];

	// An error shows nothing of another customer's charge.
	const differing = compared.filter(({ isDifferent }) => isDifferent);
	if (differing.length > 0) return differing.map(({ field }) => `has another ${LABELS[field]}`);

	return amount == null || amount === charge.amount
		? []
		: [`has another amount (${formatReais(amount)} instead of ${formatReais(charge.amount)})`];
}

const SHORTEST_PHONE = 10;

function isMasked(field: Field, value = ''): boolean {
	if (field === 'document') return !('value' in parseDocument(value));
	// Masked digits are missing.
	if (field === 'phone') return value.length < SHORTEST_PHONE;
	return value === '' || /[*•●]/.test(value);
}
