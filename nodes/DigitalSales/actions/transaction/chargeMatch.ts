import { compact } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import { normalizeContact } from '../../idempotency/fingerprints';
import { formatReais } from '../../domain/money';
import { quoteText } from '../../domain/text';
import { isTool } from '../../n8n/tool';
import type { Charge } from './charge';

export const DOCUMENT = 'Customer CPF or CNPJ';

/** Lists the customer fields that a charge and a transaction both state, unmasked, with different values. */
export function findDifferingFields({ body }: Charge, { customer }: Transaction): string[] {
	const [requested, stated] = [normalizeContact(body.customer), normalizeContact(customer)];
	const isDifferent = (field: keyof typeof requested): boolean => {
		const { [field]: value } = stated;
		return Boolean(requested[field] && value) && requested[field] !== value && !isMasked(value);
	};
	return compact([
		isDifferent('document') && DOCUMENT,
		isDifferent('email') && 'Customer Email',
		isDifferent('phone') && 'Customer Phone',
	]);
}

/**
 * Lists the differences that show that a transaction is not the requested charge. An equal document is enough to
 * identify the customer, because a person may have corrected the e-mail address and the phone since. An agent's call
 * must match in every field. If the catalog filled in the price, the amount of the same offer may have changed.
 */
export function findDifferences(
	context: IExecuteFunctions,
	charge: Charge,
	transaction: Transaction,
): string[] {
	const { amount, offer } = transaction;
	const differing = findDifferingFields(charge, transaction);
	const { document: requested } = normalizeContact(charge.body.customer);
	const { document: stated } = normalizeContact(transaction.customer);
	const isDocumentEnough = requested && stated && !isMasked(stated) && !isTool(context);
	const ofCustomer = isDocumentEnough ? differing.filter((field) => field === DOCUMENT) : differing;
	// An error shows nothing of another customer's charge.
	if (ofCustomer.length > 0) return ofCustomer;
	const offers = compact(charge.cart.map(({ offer_hash: hash }) => hash));
	const isStated = offer?.hash != null && offers.length > 0;
	const isSameOffer = isStated && offers.includes(offer.hash ?? '');
	// For a cart with several items, a transaction may state only one offer.
	const mayDiffer = charge.isPricedByCatalog && isSameOffer && charge.cart.length === 1;
	return compact([
		isStated && !isSameOffer && `Offer (${quoteText(offer.hash ?? '')})`,
		amount != null && amount !== charge.amount && !mayDiffer && `amount (${formatReais(amount)})`,
	]);
}

function isMasked(value: string | null | undefined): boolean {
	return value?.includes('*') === true;
}
