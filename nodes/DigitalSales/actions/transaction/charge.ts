import { sumBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { lenientText, tolerated } from '../../shared';
import {
	type Contact,
	formatReais,
	LARGEST_AMOUNT,
	normalizeContact,
	parseDocument,
	quoteText,
} from '../../domain';
import { wholeNumberSchema, withCustomFields } from '../../form';
import { BodyCheck } from '../bodyCheck';
import type { Run } from '../run';
import { type ChargeForm, chargeForm } from './create.form';
import { seenPrice } from '../../api';
import { NotSentError } from '../../output';
import { contactKey, fingerprintCharge, fingerprintCustomer } from './fingerprint';

/** Built from the body that will be sent; only `fingerprint` from the form as it was typed. */
export interface Charge {
	/** Amounts are in cents. */
	body: IDataObject;
	bodyCheck: BodyCheck;
	cart: CartLine[];
	/** In cents, if the cart has all prices. */
	cartTotal?: number;
	/** In cents. */
	amount: number;
	contact: Contact;
	fingerprint: string;
	/** E-mail address and phone. */
	contactKey: string;
	customerKey: string;
}

const word = tolerated(lenientText);

const lineSchema = z.object(
	{
		offer_hash: word,
		title: word,
		price: wholeNumberSchema(0).nullish(),
		quantity: wholeNumberSchema(0).default(1),
	},
	{ message: 'must be an object' },
);
type CartLine = z.output<typeof lineSchema>;

const bodySchema = z.object({
	amount: wholeNumberSchema(0).optional(),
	cart: z
		.array(lineSchema, { message: 'must be a list' })
		.nullish()
		.transform((lines) => lines ?? []),
	customer: z.object({ document: word, email: word, phone_number: word, name: word }).catch({}),
});

/** NaN without a price. */
const totalOfLine = ({ price, quantity }: CartLine): number => (price ?? NaN) * quantity;

const AMOUNT = 'Additional Fields > Amount in Reais';
const MOST_NAMED = 10;

/**
 * @param typed the form before the catalog filled it
 * @throws NotSentError if the cart or the amount cannot be charged
 */
export function buildCharge(
	{ isAgentCall, account }: Run,
	{ form, typed }: { form: ChargeForm; typed: ChargeForm },
): Charge {
	const { notificationField } = account;
	const bodyOf = (filled: ChargeForm): IDataObject => {
		const { notificationUrl: url } = filled;
		// In a second field, too, if the credential names one.
		const notification = notificationField && url ? { [notificationField]: url } : {};
		const fields = {
			...notification,
			payment_method: 'pix',
			installments: 1,
			...chargeForm.body(filled),
		};
		return withCustomFields(fields, filled.additionalFields.customFields);
	};
	const filledBody = bodyOf(form);
	const bodyCheck = new BodyCheck(chargeForm, form);
	const { customer, cart, amount: givenAmount } = bodyCheck.read(bodySchema, filledBody);
	const contact = normalizeContact(customer);
	// A name alone identifies nobody, because several people may share it.
	const isContactKnown =
		'value' in parseDocument(contact.document) || Boolean(contact.email || contact.phone);
	const hasAmount = givenAmount !== undefined;
	if (cart.length === 0 && !hasAmount) {
		throw new NotSentError('Cart is empty', `Add an item to Cart, or set ${AMOUNT}.`);
	}
	// An agent repeats its calls, so each call must identify its customer.
	if (isAgentCall && !isContactKnown) {
		throw new NotSentError(
			'Customer CPF or CNPJ, Customer Email or Customer Phone is needed when an agent charges',
			'Ask the customer for one of them, because two customers can have the same name.',
		);
	}
	const unpriced = cart.findIndex(({ price }) => price == null);
	if (unpriced >= 0 && !hasAmount) {
		const label = bodyCheck.labelOf('cart', unpriced, 'price');
		throw new NotSentError(`${label} is empty`, `Enter the price, or set ${AMOUNT}.`);
	}
	const total = sumBy(cart, totalOfLine);
	if (total > LARGEST_AMOUNT) {
		const problem = `${bodyCheck.labelOf('cart')} adds up to more than ${formatReais(LARGEST_AMOUNT)}, the largest amount`;
		throw new NotSentError(problem, 'Correct a price or a quantity.');
	}
	const amount = givenAmount ?? total;
	if (amount === 0) {
		const label = hasAmount
			? `${bodyCheck.labelOf('amount')} is`
			: `${bodyCheck.labelOf('cart')} adds up to`;
		throw new NotSentError(`${label} R$ 0,00`, 'Enter a price above R$ 0,00.');
	}
	const body = { amount, ...filledBody };
	return {
		body,
		bodyCheck,
		cart,
		cartTotal: cart.length === 0 || unpriced >= 0 ? undefined : total,
		amount,
		contact,
		fingerprint: fingerprintCharge(bodyOf(typed)),
		contactKey: contactKey(body),
		customerKey: fingerprintCustomer(body),
	};
}

export function describeCharge({ cart, amount, contact: { document } }: Charge): string {
	const items = cart
		.slice(0, MOST_NAMED)
		.map(
			({ quantity, title, offer_hash: hash }) =>
				`${quantity} x ${quoteText(title ?? hash ?? 'item')}`,
		);
	if (cart.length > MOST_NAMED) items.push(`${cart.length - MOST_NAMED} more`);
	return [
		`cart ${items.length === 0 ? 'empty' : items.join(', ')}`,
		`amount ${formatReais(amount)}`,
		...(document ? [`customer document ending in ${quoteText(document.slice(-4))}`] : []),
	].join('; ');
}

/** Compares each price with the catalog's last known price of the offer, and the amount with the sum of the cart. */
export function findPriceMismatch(
	{ account }: Run,
	{ form, charge }: { form: ChargeForm; charge: Charge },
): NotSentError | undefined {
	if (form.options.allowPriceMismatch === true) return undefined;
	const { cart, amount, bodyCheck } = charge;
	const seen = cart.map(({ offer_hash: hash }) =>
		hash == null ? undefined : seenPrice(account, hash),
	);
	const priced = cart.map((line, index) => ({ ...line, price: line.price ?? seen[index] }));
	const total = sumBy(priced, totalOfLine);
	const ofItems = cart.map(({ price }, index) =>
		bodyCheck.findMismatch(['cart', index, 'price'], price, 'the catalog last said', seen[index]),
	);
	const ofAmount =
		cart.length > 0 && Number.isSafeInteger(total)
			? bodyCheck.findMismatch(['amount'], amount, 'the cart adds up to', total)
			: undefined;
	return ofItems.find(Boolean) ?? ofAmount;
}
