import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Account } from '../../api/account';
import { lenientText, tolerated } from '../../shared/lenient';
import { parseDocument } from '../../domain/customer';
import { quoted } from '../../domain/text';
import { LARGEST_AMOUNT, formatReais } from '../../domain/money';
import { wholeNumberField, withCustomFields } from '../../form/fields';
import { displayPath, mistake } from '../../form/readForm';
import { isTool } from '../../n8n/tool';
import {
	callFingerprint,
	chargeFingerprint,
	customerFingerprint,
	goodsFingerprint,
} from '../../idempotency/keys';
import { digest } from '../../shared/digest';
import { hundredfold } from '../hundredfold';
import type { Run } from '../run';
import { type ChargeForm, chargeForm } from './create.form';
import { seenPrice } from '../../api/seenPrices';
import type { NotSentError } from '../../output/errors';

/** A charge that is ready to be sent. All but the body is read from the body, as it will be sent. */
export interface Charge {
	/** Of POST /transactions (API document, Endpoint 3), without the account's token; amounts in cents. */
	body: IDataObject;
	/** The account that its token charges. */
	account: Account;
	cart: CartLine[];
	/** What the cart adds up to, in cents; undefined if a price is missing. */
	cartTotal?: number;
	/** In cents; undefined if there is none. */
	amount?: number;
	/** To look it up by: cart, amount, last digits of the document. */
	about: string;
	/** Who is charged for what. */
	fingerprint: string;
	/** What else an agent's call says. */
	call: string;
	/** The same as it was typed, before the catalog filled it. */
	typed: string;
	/** Who gets what, at whatever price. */
	goods: string;
	/** Whether the catalog has given prices: an earlier charge may have had others. */
	isFilled: boolean;
	/** Whom it charges, if anything but a name says so. */
	customer?: string;
	/** The display name of a field of the body. */
	labelOf: (field: 'amount' | 'cart', ...path: Array<string | number>) => string;
}

const word = tolerated(lenientText);

const lineSchema = z.object(
	{
		offer_hash: word,
		title: word,
		price: wholeNumberField(0).nullish(),
		quantity: wholeNumberField(0).default(1),
	},
	{ message: 'must be an object' },
);
/** An agent repeats its calls, so a call has to say which customer it is for. */
const NOBODY = [
	'Customer CPF or CNPJ, Customer Email or Customer Phone is needed when an agent charges',
	'Ask the customer for one of them: a name alone does not tell customers apart.',
] as const;

type CartLine = z.output<typeof lineSchema>;

/** Of a cart, in words. */
const MOST_NAMED = 10;

/** Custom Fields may put anything into a body: what cannot be checked is not sent. */
const bodySchema = z.object({
	amount: wholeNumberField(0).optional(),
	cart: z.array(lineSchema, { message: 'must be a list' }).nullish(),
	customer: tolerated(z.object({ document: word, email: word, phone_number: word })),
	api_token: word,
});

/**
 * The charge that a form asks for, Custom Fields included.
 *
 * @param typed the form before the catalog filled it
 * @throws NodeOperationError if nothing is charged, or what cannot be charged
 */
export function chargeOf(
	{ context, account }: Run,
	itemIndex: number,
	{ form, typed }: { form: ChargeForm; typed: ChargeForm },
): Charge {
	const { customFields = {} } = form.additionalFields;
	const { notificationField: name } = account;
	const bodyOf = (filled: ChargeForm): IDataObject => {
		const own = name && filled.notificationUrl ? { [name]: filled.notificationUrl } : {};
		const fields = { ...own, payment_method: 'pix', installments: 1, ...chargeForm.body(filled) };
		return withCustomFields(fields, customFields);
	};
	const given = bodyOf(form);
	const labelOf: Charge['labelOf'] = (field, ...path) => {
		const place = field === 'cart' && path.length > 0 ? [field, 'items'] : [field];
		const own = field === 'cart' ? place : ['additionalFields', field];
		const from = field in customFields ? ['additionalFields', 'customFields', field] : own;
		return displayPath(chargeForm.properties, [...from, ...path]);
	};
	const read = bodySchema.safeParse(given);
	if (!read.success) {
		const [{ path = [], message = '' } = {}] = read.error.issues;
		const label = labelOf(path[0] === 'cart' ? 'cart' : 'amount', ...path.slice(1));
		const advice = 'Amounts in Custom Fields are in cents. To send none, leave the field out.';
		throw mistake(context, itemIndex, `${label} ${message}`, advice);
	}
	const { customer, api_token: token } = read.data;
	const cart = read.data.cart ?? [];
	if (cart.length === 0 && !('amount' in given)) {
		const advice = 'Add an item to Cart, or set Additional Fields > Amount.';
		throw mistake(context, itemIndex, 'Cart is empty', advice);
	}
	if (!isIdentified(customer) && isTool(context)) throw mistake(context, itemIndex, ...NOBODY);
	// Not a number if a price is missing.
	const total = cart.reduce((sum, { price, quantity }) => sum + (price ?? NaN) * quantity, 0);
	if (total > LARGEST_AMOUNT) {
		const problem = `${labelOf('cart')} adds up to more than ${formatReais(LARGEST_AMOUNT)}, the largest amount`;
		throw mistake(context, itemIndex, problem, 'Correct a price or a quantity.');
	}
	const unpriced = cart.findIndex(({ price }) => price == null);
	if (unpriced >= 0 && !('amount' in given)) {
		const label = labelOf('cart', unpriced, 'price');
		throw mistake(context, itemIndex, `${label} is empty`, 'Enter the price, or set Amount.');
	}
	const cartTotal = cart.length === 0 || Number.isNaN(total) ? undefined : total;
	const amount = read.data.amount ?? cartTotal;
	if (amount === 0) {
		const isTyped = read.data.amount === 0;
		const label = isTyped ? `${labelOf('amount')} is` : `${labelOf('cart')} adds up to`;
		throw mistake(context, itemIndex, `${label} R$ 0,00`, 'Enter a price above R$ 0,00.');
	}
	const body = amount === undefined ? given : { amount, ...given };
	const asTyped = chargeFingerprint(bodyOf(typed));
	return {
		body,
		account: { ...account, key: digest('account', account.key, token ?? account.bodyApiToken) },
		cart,
		cartTotal,
		amount,
		about: inWords(cart, amount, customer?.document),
		fingerprint: chargeFingerprint(body),
		call: callFingerprint(body),
		typed: asTyped,
		goods: goodsFingerprint(body),
		isFilled: asTyped !== chargeFingerprint(given),
		customer: isIdentified(customer) ? customerFingerprint(body) : undefined,
		labelOf,
	};
}

/** The names of people are not theirs alone. */
function isIdentified(customer: z.output<typeof bodySchema>['customer']): boolean {
	const { document, email, phone_number: phone } = customer ?? {};
	return 'value' in parseDocument(document) || Boolean(email?.trim()) || Boolean(phone?.trim());
}

function inWords(
	cart: CartLine[],
	amount: number | undefined,
	document: string | null | undefined,
): string {
	const items = cart
		.slice(0, MOST_NAMED)
		.map(
			({ quantity, title, offer_hash: hash }) => `${quantity} x ${quoted(title ?? hash ?? 'item')}`,
		);
	if (cart.length > MOST_NAMED) items.push(`${cart.length - MOST_NAMED} more`);
	return [
		`cart ${items.length === 0 ? 'empty' : items.join(', ')}`,
		...(amount === undefined ? [] : [`amount ${formatReais(amount)}`]),
		...(document == null ? [] : [`customer document ending in ${quoted(document.slice(-4))}`]),
	].join('; ');
}

/**
 * What is wrong with a price that is exactly 100 times the price that this process saw last of the
 * offer, or a hundredth of it: reais and cents were probably mixed up. The same for the amount and the
 * sum of the cart.
 *
 * @returns an error that names the field and both readings
 */
export function priceMismatch(
	{ account }: Run,
	{ form, charge }: { form: ChargeForm; charge: Charge },
): NotSentError | undefined {
	const { additionalFields, options } = form;
	const { cart, amount, labelOf } = charge;
	if (options.allowPriceMismatch === true) return undefined;
	const compare = (
		label: Parameters<Charge['labelOf']>,
		cents: number | null | undefined,
		says: string,
		other: number | undefined,
	): NotSentError | undefined => {
		const isCustom = label[0] in (additionalFields.customFields ?? {});
		return hundredfold({ label: labelOf(...label), cents, isCustom }, says, other);
	};
	const seen = cart.map(({ offer_hash: hash }) =>
		hash == null ? undefined : seenPrice(account, hash),
	);
	const ofItems = cart.map(({ price }, index) =>
		compare(['cart', index, 'price'], price, 'the catalog last said', seen[index]),
	);
	const prices = cart.map(({ price, quantity }, at) => (price ?? seen[at] ?? NaN) * quantity);
	const total = prices.reduce((sum, price) => sum + price, 0);
	const ofAmount =
		prices.length > 0 && Number.isSafeInteger(total)
			? compare(['amount'], amount, 'the cart adds up to', total)
			: undefined;
	return ofItems.find(Boolean) ?? ofAmount;
}
