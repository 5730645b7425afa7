import { sumBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { lenientText, tolerated } from '../../shared';
import {
	type Contact,
	formatReais,
	isHundredfold,
	LARGEST_AMOUNT,
	normalizeContact,
	parseDocument,
	quoteText,
	typedAmount,
} from '../../domain';
import { addCustomFields, displayPath, fieldLabel, type Path, wholeNumberSchema } from '../../form';
import type { Run } from '../run';
import { type ChargeForm, chargeForm } from './create.form';
import { type Account, seenPrice } from '../../api';
import { NotSentError } from '../../output';
import { contactKey, fingerprintCharge, fingerprintCustomer } from './fingerprint';

/** Built from the body that will be sent; only `fingerprint` from the form as it was typed. */
export interface Charge {
	/** Amounts are in cents. */
	body: IDataObject;
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

const MOST_NAMED = 10;

/**
 * @param typed the form before the catalog filled it
 * @throws NotSentError if the cart or the amount cannot be charged
 */
export function buildCharge(
	{ isAgentCall, account }: Run,
	{ form, typed }: { form: ChargeForm; typed: ChargeForm },
): Charge {
	const filledBody = buildBody(account, form);
	const { customer, cart, amount: givenAmount } = readBody(form, filledBody);
	const contact = normalizeContact(customer);
	assertCustomer(isAgentCall, form, contact);

	const total = sumBy(cart, totalOfLine);
	const amount = givenAmount ?? total;
	assertAmount(form, { cart, total, givenAmount });

	const body = { amount, ...filledBody };
	return {
		body,
		cart,
		cartTotal: cart.length === 0 || Number.isNaN(total) ? undefined : total,
		amount,
		contact,
		fingerprint: fingerprintCharge(buildBody(account, typed)),
		contactKey: contactKey(body),
		customerKey: fingerprintCustomer(body),
	};
}

function buildBody({ notificationField }: Account, form: ChargeForm): IDataObject {
	const { options, additionalFields } = form;
	const url = options.notificationUrl;
	// In a second field, too, if the credential names one.
	const notification = notificationField && url ? { [notificationField]: url } : {};
	const fields = {
		...notification,
		payment_method: 'pix',
		installments: 1,
		...chargeForm.body(form),
	};

	return addCustomFields(chargeForm, fields, additionalFields.customFields, {
		replaceable: ['cart', 'customer'],
	});
}

function readBody(form: ChargeForm, body: IDataObject): z.output<typeof bodySchema> {
	const { success, data, error } = bodySchema.safeParse(body);
	if (success) return data;

	const [{ path = [], message = '' } = {}] = error.issues;
	throw new NotSentError(
		`${labelOf(form, ...path)} ${message}`,
		'Correct the field, or leave it out. Amounts in Custom Fields are in cents.',
	);
}

/** The form or Custom Fields, wherever the value comes from. */
function labelOf(form: ChargeForm, ...path: Path): string {
	const isOfForm = path[0] === 'cart' && form.cart.length > 0;
	const label = isOfForm ? fieldLabel(chargeForm, path.join('.')) : undefined;

	return label ?? displayPath(chargeForm.properties, ['additionalFields', 'customFields', ...path]);
}

const NEEDED = [
	['name', 'Customer Name'],
	['email', 'Customer Email'],
	['document', 'Customer CPF or CNPJ'],
] as const;

const AND = new Intl.ListFormat('en-GB');

/** A customer from Custom Fields is as the platform wants it. */
function assertCustomer(isAgentCall: boolean, form: ChargeForm, contact: Contact): void {
	const { customFields = {} } = form.additionalFields;
	const missing = NEEDED.filter(([field]) => !contact[field]).map(([, label]) => label);
	if (missing.length > 0 && !('customer' in customFields)) {
		const verb = missing.length === 1 ? 'is' : 'are';
		throw new NotSentError(
			`${AND.format(missing)} ${verb} empty`,
			'A PIX needs the name, the e-mail address and the CPF or CNPJ of the customer.',
		);
	}

	// An agent repeats its calls, so each call must identify its customer. Several people may share a name.
	const isKnown =
		'value' in parseDocument(contact.document) || Boolean(contact.email || contact.phone);
	if (isAgentCall && !isKnown) {
		throw new NotSentError(
			'Customer CPF or CNPJ, Customer Email or Customer Phone is needed when an agent charges',
			'Ask the customer for one of them, because two customers can have the same name.',
		);
	}
}

function assertAmount(
	form: ChargeForm,
	{ cart, total, givenAmount }: { cart: CartLine[]; total: number; givenAmount?: number },
): void {
	if (givenAmount === 0) {
		throw new NotSentError(`${labelOf(form, 'amount')} is R$ 0,00`, 'Enter an amount in cents.');
	}

	const label = labelOf(form, 'cart');
	if (total > LARGEST_AMOUNT) {
		const problem = `${label} adds up to more than ${formatReais(LARGEST_AMOUNT)}, the largest amount`;
		throw new NotSentError(problem, 'Correct a price or a quantity.');
	}
	if (givenAmount !== undefined) return;

	if (cart.length === 0) throw new NotSentError('Cart is empty', 'Add an item to Cart.');
	const unpriced = cart.findIndex(({ price }) => price == null);
	if (unpriced >= 0) {
		throw new NotSentError(
			`${labelOf(form, 'cart', unpriced, 'price')} is empty`,
			'Enter the price.',
		);
	}
	if (total === 0) {
		throw new NotSentError(`${label} adds up to R$ 0,00`, 'Enter a price above R$ 0,00.');
	}
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

/** Compares each price with the catalog's last known price of the offer. */
export function findPriceMismatch(
	{ account }: Run,
	{ form, charge }: { form: ChargeForm; charge: Charge },
): NotSentError | undefined {
	if (form.options.allowPriceMismatch === true) return undefined;

	for (const [index, { offer_hash: hash, price }] of charge.cart.entries()) {
		const seen = hash == null ? undefined : seenPrice(account, hash);
		if (price == null || seen === undefined || !isHundredfold(price, seen)) continue;

		const right = form.cart.length > 0 ? typedAmount(seen) : seen;
		return new NotSentError(
			`${labelOf(form, 'cart', index, 'price')} is ${formatReais(price)}, but the catalog last said ${formatReais(seen)}`,
			`Enter ${right}, or add Options > Allow Price Mismatch if ${formatReais(price)} is right.`,
		);
	}

	return undefined;
}
