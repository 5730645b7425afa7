import compact from 'lodash/compact';
import omit from 'lodash/omit';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { lenientText, tolerated } from '../../shared/lenient';
import { parseDocument } from '../../domain/customer';
import { quoteText } from '../../domain/text';
import { LARGEST_AMOUNT, formatReais } from '../../domain/money';
import { wholeNumberSchema, withCustomFields } from '../../form/fields';
import { displayPath, parameterError } from '../../form/readForm';
import { isTool } from '../../n8n/tool';
import {
	fingerprintAgentCall,
	fingerprintCharge,
	fingerprintCustomer,
	fingerprintGoods,
} from '../../idempotency/fingerprints';
import type { KeySource } from '../../idempotency/keys';
import { digest } from '../../shared/digest';
import { hundredfoldMismatch } from '../priceMismatch';
import type { Run } from '../run';
import { type ChargeForm, chargeForm } from './create.form';
import { seenPrice } from '../../api/offers';
import type { NotSentError } from '../../output/errors';

/** Everything is derived from the body that will be sent. */
export interface Charge {
	/** Amounts are in cents. */
	body: IDataObject;
	cart: CartLine[];
	/** In cents, if the cart has all prices. */
	cartTotal?: number;
	/** In cents. */
	amount?: number;
	about: string;
	/** What an earlier charge must have in common. The account is that of both tokens. */
	identity: Omit<KeySource, 'context' | 'memory' | 'itemIndex' | 'orderReference'>;
	/** Whether the amount comes from the catalog. An earlier charge may have another. */
	isFilled: boolean;
	labelOf: (field: 'amount' | 'cart', ...path: Array<string | number>) => string;
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
/** An agent repeats its calls, so each call must identify its customer. */
const NO_CONTACT = [
	'Customer CPF or CNPJ, Customer Email or Customer Phone is needed when an agent charges',
	'Ask the customer for one of them, because two customers can have the same name.',
] as const;
const AMOUNT = 'Additional Fields > Amount in Reais';
const CUSTOM_ADVICE = 'Amounts in Custom Fields are in cents. To send none, leave the field out.';

type CartLine = z.output<typeof lineSchema>;

const MOST_NAMED = 10;

/** Custom Fields may put anything into the body. */
const bodySchema = z.object({
	amount: wholeNumberSchema(0).optional(),
	cart: z.array(lineSchema, { message: 'must be a list' }).nullish(),
	customer: tolerated(z.object({ document: word, email: word, phone_number: word })),
});

/**
 * @param typed the form before the catalog filled it
 * @throws NodeOperationError if the cart or the amount cannot be charged
 */
export function buildCharge(
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
		const cartPath = path.length > 0 ? ['cart', 'items'] : ['cart'];
		const formPath = field === 'cart' ? cartPath : ['additionalFields', field];
		const fieldPath =
			field in customFields ? ['additionalFields', 'customFields', field] : formPath;
		return displayPath(chargeForm.properties, [...fieldPath, ...path]);
	};
	const itemError = (message: string, advice: string) =>
		parameterError(context, itemIndex, message, advice);
	const read = bodySchema.safeParse(given);
	if (!read.success) {
		const [{ path = [], message = '' } = {}] = read.error.issues;
		const label = labelOf(path[0] === 'cart' ? 'cart' : 'amount', ...path.slice(1));
		throw itemError(`${label} ${message}`, CUSTOM_ADVICE);
	}
	const { customer } = read.data;
	const cart = read.data.cart ?? [];
	const hasAmount = 'amount' in given;
	if (cart.length === 0 && !hasAmount) {
		throw itemError('Cart is empty', `Add an item to Cart, or set ${AMOUNT}.`);
	}
	if (isTool(context) && !hasContact(customer)) throw itemError(...NO_CONTACT);
	const unpriced = cart.findIndex(({ price }) => price == null);
	if (unpriced >= 0 && !hasAmount) {
		const label = labelOf('cart', unpriced, 'price');
		throw itemError(`${label} is empty`, `Enter the price, or set ${AMOUNT}.`);
	}
	// NaN if a price is missing.
	const total = cart.reduce((sum, { price, quantity }) => sum + (price ?? NaN) * quantity, 0);
	if (total > LARGEST_AMOUNT) {
		const problem = `${labelOf('cart')} adds up to more than ${formatReais(LARGEST_AMOUNT)}, the largest amount`;
		throw itemError(problem, 'Correct a price or a quantity.');
	}
	const cartTotal = cart.length === 0 || Number.isNaN(total) ? undefined : total;
	const amount = read.data.amount ?? cartTotal;
	if (amount === 0) {
		const isTyped = read.data.amount === 0;
		const label = isTyped ? `${labelOf('amount')} is` : `${labelOf('cart')} adds up to`;
		throw itemError(`${label} R$ 0,00`, 'Enter a price above R$ 0,00.');
	}
	const body = amount === undefined ? given : { amount, ...given };
	const typedFingerprint = fingerprintCharge(bodyOf(typed));
	return {
		body,
		cart,
		cartTotal,
		amount,
		about: describeCharge(cart, amount, customer?.document),
		identity: {
			account: { ...account, key: digest('account', account.key, account.bodyApiToken) },
			fingerprint: fingerprintCharge(body),
			agentCall: fingerprintAgentCall(omit(body, compact([name]))),
			typedFingerprint,
			goodsFingerprint: fingerprintGoods(body),
			customerFingerprint: hasContact(customer) ? fingerprintCustomer(body) : undefined,
		},
		isFilled: !hasAmount && typedFingerprint !== fingerprintCharge(given),
		labelOf,
	};
}

/** Several people may share a name. */
function hasContact(customer: z.output<typeof bodySchema>['customer']): boolean {
	const { document, email, phone_number: phone } = customer ?? {};
	return 'value' in parseDocument(document) || Boolean(email?.trim()) || Boolean(phone?.trim());
}

function describeCharge(
	cart: CartLine[],
	amount: number | undefined,
	document: string | null | undefined,
): string {
	const items = cart
		.slice(0, MOST_NAMED)
		.map(
			({ quantity, title, offer_hash: hash }) =>
				`${quantity} x ${quoteText(title ?? hash ?? 'item')}`,
		);
	if (cart.length > MOST_NAMED) items.push(`${cart.length - MOST_NAMED} more`);
	return [
		`cart ${items.length === 0 ? 'empty' : items.join(', ')}`,
		...(amount === undefined ? [] : [`amount ${formatReais(amount)}`]),
		...(document == null ? [] : [`customer document ending in ${quoteText(document.slice(-4))}`]),
	].join('; ');
}

/** Compares each price with the catalog's last known price of the offer, and the amount with the sum of the cart. */
export function findPriceMismatch(
	{ account }: Run,
	{ form, charge }: { form: ChargeForm; charge: Charge },
): NotSentError | undefined {
	const { additionalFields, options } = form;
	const { cart, amount, labelOf } = charge;
	if (options.allowPriceMismatch === true) return undefined;
	const compare = (
		label: Parameters<Charge['labelOf']>,
		cents: number | null | undefined,
		source: string,
		other: number | undefined,
	): NotSentError | undefined => {
		const isCustom = label[0] in (additionalFields.customFields ?? {});
		return hundredfoldMismatch({ label: labelOf(...label), cents, isCustom }, source, other);
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
