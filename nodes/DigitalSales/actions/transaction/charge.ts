import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { formatReais, isExactAmount, LARGEST_AMOUNT } from '../../domain/money';
import { withCustomFields } from '../../form/customFields';
import { displayPath } from '../../form/displayPath';
import { mistake } from '../../form/readForm';
import { chargeFingerprint } from '../../once/identity';
import { chargeForm, type ChargeForm } from './create.form';

/** A charge that is ready to be sent. */
export interface Charge {
	/** Of POST /transactions (API document, Endpoint 3), without the token; amounts in cents. */
	body: IDataObject;
	/** The amount in cents; undefined if Custom Fields replace it with anything else. */
	total?: number;
	/** To look it up by: cart, amount, last digits of the document. */
	about: string;
	/** Of what was asked for, so that a changed catalog does not change it. */
	fingerprint: string;
	/** About the amount, for the output panel. */
	hint?: string;
}

/**
 * The charge that a form asks for; `asked` is the charge before the catalog filled its blanks.
 *
 * @throws NodeOperationError if the cart adds up to something that cannot be charged
 */
export function chargeOf(
	context: IExecuteFunctions,
	itemIndex: number,
	form: ChargeForm,
	asked?: Charge,
): Charge {
	const { amount, customFields } = form.additionalFields;
	const cartTotal = exactTotal(context, itemIndex, form.cart);
	const total = cartTotal === undefined ? {} : { amount: cartTotal };
	const fields = { ...total, payment_method: 'pix', ...chargeForm.body(form) };
	const body = withCustomFields(fields, customFields);
	const isOther = amount !== undefined && cartTotal !== undefined && amount !== cartTotal;
	return {
		body,
		...inWords(body),
		fingerprint: asked?.fingerprint ?? chargeFingerprint(body),
		...(isOther && {
			hint: `Amount is ${formatReais(amount)}, but the cart adds up to ${formatReais(cartTotal)}. The amount was sent as given.`,
		}),
	};
}

/**
 * The sum of the cart in cents; undefined if a price is missing. Refuses sums too large to be exact,
 * or below zero, which prices of the catalog can be.
 */
function exactTotal(
	context: IExecuteFunctions,
	itemIndex: number,
	cart: ChargeForm['cart'],
): number | undefined {
	const sums = cart.map(({ price = 0, quantity }) => price * quantity);
	const isKnown = sums.length > 0 && cart.every(({ price }) => price !== undefined);
	const total = isKnown ? sums.reduce((sum, one) => sum + one, 0) : undefined;
	const wrong = sums.findIndex((sum) => !isExactAmount(sum));
	const sum = sums[wrong] ?? total ?? 0;
	if (isExactAmount(sum)) return total;
	const labelOf = (...path: Array<string | number>): string =>
		displayPath(chargeForm.properties, ['cart', ...path], context.getNode());
	const [name, advice] =
		wrong < 0
			? [`${labelOf()} adds up to`, 'Correct a price or a quantity.']
			: [
					`${labelOf('items', wrong, 'price')} times Quantity is`,
					'Correct the price or the quantity.',
				];
	const problem =
		sum < 0
			? `less than ${formatReais(0)}`
			: `more than ${formatReais(LARGEST_AMOUNT)}, the largest amount`;
	throw mistake(context, itemIndex, `${name} ${problem}`, advice);
}

const word = z
	.union([z.string(), z.number().transform(String)])
	.optional()
	.catch(undefined);

/** Custom Fields may put anything into a body. */
const sentSchema = z.object({
	amount: z.number().optional().catch(undefined),
	cart: z
		.array(z.object({ quantity: word, title: word, offer_hash: word }).catch({}))
		.optional()
		.catch(undefined),
	customer: z.object({ document: word }).optional().catch(undefined),
});

function inWords(body: IDataObject): Pick<Charge, 'total' | 'about'> {
	const { amount, cart = [], customer } = sentSchema.parse(body);
	const items = cart.map(
		({ quantity = '1', title, offer_hash: hash }) => `${quantity} x ${title ?? hash ?? 'item'}`,
	);
	const about = [
		`cart ${items.length === 0 ? 'empty' : items.join(', ')}`,
		...(amount === undefined ? [] : [`amount ${formatReais(amount)}`]),
		...(customer?.document === undefined
			? []
			: [`customer document ending in ${customer.document.slice(-4)}`]),
	].join('; ');
	return { total: amount, about };
}
