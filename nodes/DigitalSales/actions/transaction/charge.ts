import { compact, sumBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Account } from '../../api';
import {
	type Contact,
	formatReais,
	LARGEST_AMOUNT,
	normalizeContact,
	parseDocument,
	quoteText,
} from '../../domain';
import { addCustomFields, displayPath, fieldLabel, type Path, wholeNumberSchema } from '../../form';
import { NotSentError } from '../../output';
import { lenientText } from '../../shared';
import type { Run } from '../run';
import { type ChargeForm, chargeForm } from './create.form';
import { contactKey, customerSchema, fingerprintCharge, fingerprintCustomer } from './fingerprint';

/* What a charge sends, and whether it can be sent. */

/** Built from the body that will be sent; only `fingerprint` from the form as it was typed. */
export interface Charge {
	/** Amounts are in cents. */
	body: IDataObject;
	cart: CartLine[];
	/** In cents. NaN if a price is missing. */
	cartTotal: number;
	/** In cents. */
	amount: number;
	contact: Contact;
	fingerprint: string;
	/** E-mail address and phone. */
	contactKey: string;
	customerKey: string;
	/** Cart, amount and last digits of the document, so that a person can look the charge up. */
	about: string;
}

const lineSchema = z.object(
	{
		offer_hash: lenientText,
		title: lenientText,
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
	customer: customerSchema,
});
type ReadBody = z.output<typeof bodySchema>;

const MOST_NAMED = 10;

/**
 * @param forms the form as it was typed, and as the catalog filled it
 * @throws NotSentError if the customer, the cart or the amount cannot be charged
 */
export function buildCharge(
	run: Run,
	{ typed, filled }: { typed: ChargeForm; filled: ChargeForm },
): Charge {
	const fields = buildBody(run.account, filled);
	const read = readBody(filled, fields);
	const contact = normalizeContact(read.customer);
	const cartTotal = sumBy(read.cart, ({ price, quantity }) => (price ?? NaN) * quantity);

	assertCustomer(filled, contact);
	if (run.isAgentCall) assertIdentified(contact);
	assertAmount(filled, read, cartTotal);

	const amount = read.amount ?? cartTotal;
	const body = { amount, ...fields };
	return {
		body,
		cart: read.cart,
		cartTotal,
		amount,
		contact,
		fingerprint: fingerprintCharge(buildBody(run.account, typed)),
		contactKey: contactKey(contact),
		customerKey: fingerprintCustomer(body),
		about: describeCharge(read.cart, amount, contact),
	};
}

function buildBody({ notificationField }: Account, form: ChargeForm): IDataObject {
	const { options, additionalFields } = form;
	const url = options.notificationUrl;
	const fields = {
		// In a second field, too, if the credential names one.
		...(notificationField && url && { [notificationField]: url }),
		payment_method: 'pix',
		installments: 1,
		...chargeForm.body(form),
	};

	return addCustomFields(chargeForm, fields, additionalFields.customFields, ['cart', 'customer']);
}

function readBody(form: ChargeForm, body: IDataObject): ReadBody {
	const { success, data, error } = bodySchema.safeParse(body);
	if (success) return data;

	const [{ path = [], message = '' } = {}] = error.issues;
	throw new NotSentError(
		`${labelOf(form, ...path)} ${message}`,
		'Correct the field, or leave it out. Amounts in Custom Fields are in cents.',
	);
}

/** The form or Custom Fields, wherever the value comes from. */
export function labelOf(form: ChargeForm, ...path: Path): string {
	const isOfForm = path[0] === 'cart' && form.cart.length > 0;
	const label = isOfForm && fieldLabel(chargeForm, path.join('.'));

	return label || displayPath(chargeForm.properties, ['additionalFields', 'customFields', ...path]);
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
	const missing = NEEDED.filter((field) => !contact[field]).map((field) => CUSTOMER_LABELS[field]);
	if (missing.length === 0 || additionalFields.customFields?.customer !== undefined) return;

	const labels = new Intl.ListFormat('en-GB').format(missing);
	throw new NotSentError(
		`${labels} ${missing.length === 1 ? 'is' : 'are'} empty`,
		'A PIX needs the name, the e-mail address and the CPF or CNPJ of the customer.',
	);
}

/** An agent repeats its calls, so each call must identify its customer. Several people may share a name. */
function assertIdentified({ document, email, phone }: Contact): void {
	if (email || phone || 'value' in parseDocument(document)) return;

	throw new NotSentError(
		'Customer CPF or CNPJ, Customer Email or Customer Phone is needed when an agent charges',
		'Ask the customer for one of them, because two customers can have the same name.',
	);
}

function assertAmount(form: ChargeForm, { amount, cart }: ReadBody, cartTotal: number): void {
	if (amount === 0) {
		throw new NotSentError(`${labelOf(form, 'amount')} is R$ 0,00`, 'Enter an amount in cents.');
	}
	if (cartTotal > LARGEST_AMOUNT) {
		const sum = `adds up to more than ${formatReais(LARGEST_AMOUNT)}, the largest amount`;
		throw new NotSentError(`${labelOf(form, 'cart')} ${sum}`, 'Correct a price or a quantity.');
	}
	if (amount !== undefined) return;

	if (cart.length === 0) throw new NotSentError('Cart is empty', 'Add an item to Cart.');
	const unpriced = cart.findIndex(({ price }) => price == null);
	if (unpriced >= 0) {
		const field = labelOf(form, 'cart', unpriced, 'price');
		throw new NotSentError(`${field} is empty`, 'Enter the price.');
	}
	if (cartTotal === 0) {
		const problem = `${labelOf(form, 'cart')} adds up to R$ 0,00`;
		throw new NotSentError(problem, 'Enter a price above R$ 0,00.');
	}
}

function describeCharge(cart: CartLine[], amount: number, contact: Contact): string {
	const items = cart.slice(0, MOST_NAMED).map((line) => {
		const name = line.title ?? line.offer_hash ?? 'item';
		return `${line.quantity} x ${quoteText(name)}`;
	});
	if (cart.length > MOST_NAMED) items.push(`${cart.length - MOST_NAMED} more`);

	return compact([
		`cart ${items.join(', ') || 'empty'}`,
		`amount ${formatReais(amount)}`,
		contact.document && `customer document ending in ${quoteText(contact.document.slice(-4))}`,
	]).join('; ');
}
