import { compact, sumBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { type Contact, formatReais, LARGEST_AMOUNT, quoteText } from '../../domain';
import { NotSentError } from '../../output';
import type { Run } from '../run';
import { buildBody, type CartLine, identifyCharge, readBody } from './chargeBody';
import type { ChargeForm } from './create.form';
import { cartLabel, fillCart } from './fillCart';

/* What a charge sends, and whether it can be sent. */

export interface Charge {
	/** Amounts are in cents. */
	body: IDataObject;
	cart: CartLine[];
	/** In cents. */
	amount: number;
	contact: Contact;
	digests: ReturnType<typeof identifyCharge>;
	/** Cart, amount and last digits of the document, so that a person can look the charge up. */
	about: string;
}

const LONGEST_CART = 300;

/**
 * @param notificationUrl gets the webhooks of the charge, if anything does
 * @throws NotSentError if the customer, the cart or the amount cannot be charged
 */
export async function buildCharge(
	run: Run,
	form: ChargeForm,
	notificationUrl: string | undefined,
): Promise<Charge> {
	const typed = buildBody(run.account, form, notificationUrl);
	const asked = readBody(typed);
	const { contact } = asked.customer;
	const digests = identifyCharge(asked);
	assertCustomer(form, contact);

	const cart = await fillCart(run, form, asked.cart);
	const amount = asked.amount ?? sumCart(form, cart);

	return {
		// A cart of Custom Fields is sent as it is.
		body: { amount, ...typed, ...(form.cart.length > 0 && { cart }) },
		cart,
		amount,
		contact,
		digests,
		about: describeCharge(cart, amount, contact),
	};
}

export const CUSTOMER_LABELS = {
	document: 'Customer CPF or CNPJ',
	email: 'Customer Email',
	phone: 'Customer Phone',
	name: 'Customer Name',
};
const NEEDED = ['name', 'email', 'document'] as const;

/** A customer from Custom Fields is as the platform wants it. */
function assertCustomer({ additionalFields }: ChargeForm, contact: Contact): void {
	const missing = NEEDED.find((field) => !contact[field]);
	if (missing === undefined || additionalFields.customFields?.customer !== undefined) return;

	throw new NotSentError(
		`${CUSTOMER_LABELS[missing]} is empty`,
		'A PIX needs the name, the e-mail address and the CPF or CNPJ of the customer.',
	);
}

/** @returns cents */
function sumCart(form: ChargeForm, cart: CartLine[]): number {
	if (cart.length === 0) throw new NotSentError('Cart is empty', 'Add an item to Cart.');
	const unpriced = cart.findIndex(({ price }) => price == null);
	if (unpriced >= 0) {
		throw new NotSentError(`${cartLabel(form, unpriced, 'price')} is empty`, 'Enter the price.');
	}

	const total = sumBy(cart, ({ price, quantity }) => Number(price) * quantity);
	if (total > 0 && total <= LARGEST_AMOUNT) return total;
	throw new NotSentError(
		`${cartLabel(form)} adds up to ${formatReais(total)}`,
		`Correct a price or a quantity. The largest amount is ${formatReais(LARGEST_AMOUNT)}.`,
	);
}

function describeCharge(cart: CartLine[], amount: number, { document }: Contact): string {
	const items = cart.map(({ quantity, title, offer_hash }) => {
		return `${quantity} x ${quoteText(title ?? offer_hash ?? 'item')}`;
	});

	return compact([
		`cart ${quoteText(items.join(', '), LONGEST_CART) || 'empty'}`,
		`amount ${formatReais(amount)}`,
		document && `customer document ending in ${quoteText(document.slice(-4))}`,
	]).join('; ');
}
