import type { Transaction } from '../../api';
import {
	type Contact,
	formatReais,
	isSameReference,
	normalizeContact,
	parseDocument,
} from '../../domain';
import { type Charge, CUSTOMER_LABELS } from './charge';
import type { ChargeForm } from './create.form';

/* Compares a charge with what a person says about it, and with a transaction of the platform. */

type Decisions = ChargeForm['options']['chargesInDoubt'];

/** A charge with an Order Reference is named by it alone, because its customer may have other orders. */
export function findDecision(
	decisions: Decisions,
	orderReference: string | undefined,
	contact: Contact,
): Decisions[number] | undefined {
	return decisions.find((decision) => {
		const name = decision.orderOrCustomer;
		if (orderReference !== undefined) return isSameReference(name, orderReference);

		const named = normalizeContact({ document: name, email: name, phone_number: name, name });
		const fields = ['document', 'email', 'phone', 'name'] as const;
		return fields.some((field) => Boolean(contact[field]) && contact[field] === named[field]);
	});
}

/** How an error asks for the charge, for `findDecision`. */
export function nameOfCharge(orderReference: string | undefined, contact: Contact): string {
	return orderReference || contact.document || contact.email || contact.phone || contact.name || '';
}

type Field = keyof Contact;

/** How a transaction differs from the requested charge. With an equal CPF, the contact may differ. */
export function findDifferences(charge: Charge, transaction: Transaction): string[] {
	const requested = charge.contact;
	const stated = normalizeContact(transaction.customer ?? {});
	const byCertainty: Field[][] = [['document'], ['email', 'phone'], ['name']];
	const compared = byCertainty
		.map((fields) => fields.filter((one) => requested[one] && !isMasked(one, stated[one])))
		.find(({ length }) => length > 0);
	if (!compared) return ['names no customer that can be compared'];

	// An error shows nothing of another customer's charge.
	const differing = compared.filter((field) => requested[field] !== stated[field]);
	if (differing.length > 0)
		return differing.map((field) => `has another ${CUSTOMER_LABELS[field]}`);

	const { amount, offer } = transaction;
	const isOfOffer = charge.cart.some(({ offer_hash: hash }) => hash && hash === offer?.hash);
	// The platform may give the discount of the offer.
	const isLess = isOfOffer && Number(amount) < charge.amount;
	if (amount == null || amount === charge.amount || isLess) return [];
	return [`has another amount (${formatReais(amount)} instead of ${formatReais(charge.amount)})`];
}

function isMasked(field: Field, value = ''): boolean {
	if (field === 'document') return !('value' in parseDocument(value));
	// Masked digits are missing, and no phone has fewer than ten.
	if (field === 'phone') return value.length < 10;
	return value === '' || /[*•●]/.test(value);
}
