import { normalizeContact, normalizeReference, type Contact } from '../../domain';

/** What a person found about one charge in doubt, from Options > Charges in Doubt. */
export interface Decision {
	orderOrCustomer: string;
	/** Missing if the charge does not exist, so that it is made. */
	hash?: string;
}

/** A charge with an Order Reference is named by it alone, because its customer may have other orders. */
export function findDecision(
	decisions: readonly Decision[],
	orderReference: string | undefined,
	contact: Contact,
): Decision | undefined {
	return decisions.find(({ orderOrCustomer: name }) => {
		if (orderReference !== undefined) {
			return normalizeReference(name) === normalizeReference(orderReference);
		}
		const named = normalizeContact({ document: name, email: name, phone_number: name, name });
		const fields = ['document', 'email', 'phone', 'name'] as const;

		return fields.some((field) => Boolean(contact[field]) && contact[field] === named[field]);
	});
}

/** How an error asks for the charge, for `findDecision`. */
export function nameOfCharge(orderReference: string | undefined, contact: Contact): string {
	return orderReference || contact.document || contact.email || contact.phone || contact.name || '';
}
