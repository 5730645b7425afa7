import type { IExecuteFunctions } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import { createTransaction, getTransaction } from '../../api/transactions';
import { hasFailed } from '../../domain/paymentStatus';
import { mistake, readForm } from '../../form/readForm';
import { clientOptions, DEFAULT_AT_ONCE, RATE_LIMIT_ADVICE } from '../../form/requestOptions';
import { createOnce, isKnown, type Creation } from '../../once/createOnce';
import { customerPhrase } from '../../once/refusals';
import type { Operation, PreparedItem } from '../operation';
import type { Run } from '../run';
import { chargeOf, type Charge } from './charge';
import { chargeForm, type ChargeForm } from './create.form';
import { fillCart, leavesBlanks } from './fillCart';
import { notificationAddress } from './notify';
import { priceMismatch } from './priceMismatch';
import { transactionItem } from './transactionItem';

/** Transaction > Create PIX: POST /transactions (API document, Endpoint 3). */
export const createTransactionOperation: Operation = {
	name: 'Create PIX',
	value: 'create',
	action: 'Create a PIX transaction',
	description: 'Charge a customer by PIX and get the code to pay with',
	form: chargeForm,
	manyItemsHint:
		'Charges a customer for each input item. To charge only once, turn on Execute Once in the Settings of this node.',
	advice: { rateLimited: RATE_LIMIT_ADVICE },
	creates: true,
	prepare(run, itemIndex) {
		const { context } = run;
		const typed = readForm(context, itemIndex, chargeForm);
		refuseEmptyCart(context, itemIndex, typed);
		refuseEmptyReference(context, itemIndex, typed);
		const { url, hint } = notificationAddress(context, itemIndex, run.account, typed);
		const form = { ...typed, notificationUrl: url };
		const asked = chargeOf(context, itemIndex, form);
		const prepared = (charge: Charge): PreparedItem => ({
			about: charge.about,
			atOnce: form.options.atOnce ?? DEFAULT_AT_ONCE,
			async send() {
				const creation = creationOf(run, itemIndex, form, charge);
				const transaction = await charged(run, creation, [hint, charge.hint]);
				const options = { ...form.options, qrCodeImage: form.qrCodeImage };
				return [await transactionItem(run, transaction, { ...form, options })];
			},
		});
		return async () => {
			const filled = leavesBlanks(form) ? await fillCart(form, run.catalog, run.hint) : form;
			const charge = filled === form ? asked : chargeOf(context, itemIndex, filled, asked);
			// A step of its own, because what is looked up for one item may show the price of another.
			return async () => {
				const mismatch = priceMismatch(run, itemIndex, form, filled.cart);
				// What was charged before is returned or refused as such: a corrected price would charge again.
				const isChecked =
					mismatch === undefined || (await isKnown(creationOf(run, itemIndex, form, charge)));
				if (!isChecked) throw mismatch;
				return prepared(charge);
			};
		};
	},
};

/** @param hints about what was sent; an existing transaction may differ */
async function charged(
	run: Run,
	creation: Creation<Transaction>,
	hints: Array<string | undefined>,
): Promise<Transaction> {
	const { made: transaction, isExisting } = await createOnce(creation);
	const existing = `${customerPhrase(creation)} was already charged. Returning transaction ${transaction.hash}.`;
	for (const hint of isExisting ? [existing] : hints) {
		if (hint !== undefined) run.hint(hint);
	}
	const { payment_status: status, pix } = transaction;
	if (!pix) {
		run.hint(`The service created no PIX code; the payment status is ${status ?? 'not stated'}.`);
	}
	return transaction;
}

function creationOf(
	run: Run,
	itemIndex: number,
	{ orderReference, options }: ChargeForm,
	{ body, total, about, fingerprint }: Charge,
): Creation<Transaction> {
	const { context, account, memory, signal, inTurn } = run;
	const client = run.client(clientOptions(options));
	return {
		context,
		account,
		memory,
		signal,
		inTurn,
		itemIndex,
		kind: 'charge',
		about,
		amount: total,
		fingerprint,
		orderReference,
		repeatCode: options.repeatCode,
		create: async () => await run.creating(createTransaction(client, body)),
		keep: ({ hash }) => ({ hash }),
		again: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
	};
}

function refuseEmptyCart(context: IExecuteFunctions, itemIndex: number, form: ChargeForm): void {
	const { amount, customFields } = form.additionalFields;
	if (form.cart.length > 0 || amount !== undefined || customFields?.cart) return;
	const advice = 'Add an item to Cart, or set Additional Fields > Amount.';
	throw mistake(context, itemIndex, 'Cart is empty', advice);
}

/** An expression was to protect the order, but gave no reference for this item. */
function refuseEmptyReference(
	context: IExecuteFunctions,
	itemIndex: number,
	{ orderReference }: ChargeForm,
): void {
	const { orderReference: typed } = context.getNode().parameters;
	if (orderReference !== undefined || typeof typed !== 'string' || !typed.startsWith('=')) return;
	const advice = 'Correct the expression, or clear the field to charge without a reference.';
	throw mistake(context, itemIndex, 'The expression in Order Reference gave nothing', advice);
}
