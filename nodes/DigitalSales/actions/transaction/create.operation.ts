import type { Transaction } from '../../api/schemas/transaction';
import { createTransaction, getTransaction } from '../../api/transactions';
import { formatReais } from '../../domain/money';
import { hasFailed } from '../../domain/paymentStatus';
import { readForm } from '../../form/readForm';
import { type Creation, createOnce } from '../../once/createOnce';
import { customerPhrase } from '../../once/refusals';
import type { Refusal } from '../../output/errors';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { type Charge, chargeOf, priceMismatch } from './charge';
import { type ChargeForm, chargeForm } from './create.form';
import { fillCart } from './fillCart';
import { notificationAddress } from './notificationAddress';
import { transactionItem } from './transactionItem';

interface ReadyCharge {
	form: ChargeForm;
	charge: Charge;
	/** About its notifications. */
	hint?: string;
	problem: () => Refusal | undefined;
}

/** Transaction > Create PIX: POST /transactions (API document, Endpoint 3). */
export const createTransactionOperation: Operation<ChargeForm, ReadyCharge> = {
	name: 'Create PIX',
	value: 'create',
	action: 'Create a PIX transaction',
	description: 'Charge a customer by PIX and get the code to pay with',
	form: chargeForm,
	manyItemsHint:
		'Charges a customer for each input item. To charge only once, turn on Execute Once in the Settings of this node.',
	creates: true,
	read(run, itemIndex) {
		const form = readForm(run.context, itemIndex, chargeForm);
		// What cannot be charged, whatever the catalog says, costs no request to it.
		chargeOf(run, itemIndex, form);
		return form;
	},
	async complete(run, itemIndex, typed) {
		const { url, hint } = await notificationAddress(run, itemIndex, typed);
		const form = { ...typed, notificationUrl: url };
		const charge = chargeOf(run, itemIndex, await fillCart(run, itemIndex, form));
		return { form, charge, hint, problem: () => priceMismatch(run, itemIndex, form, charge) };
	},
	about: ({ charge }) => charge.about,
	isSuspect: ({ problem }) => problem() !== undefined,
	async send(run, itemIndex, ready) {
		const { form, charge, hint } = ready;
		const creation = creationOf(run, itemIndex, ready);
		const transaction = await charged(run, creation, charge, [hint, amountHint(charge)]);
		const options = { ...form.options, qrCodeImage: form.qrCodeImage };
		return [await transactionItem(run, transaction, { ...form, options })];
	},
};

/** @param hints about what was sent; an existing transaction may differ */
async function charged(
	run: Run,
	creation: Creation<Transaction>,
	{ amount: sent }: Charge,
	hints: Array<string | undefined>,
): Promise<Transaction> {
	const { made: transaction, isExisting } = await createOnce(creation);
	const { hash, amount, pix, payment_status: status } = transaction;
	const hint = (kind: string, message: string): void =>
		run.hint(message, kind, `transaction ${hash}`);
	const existing = `${customerPhrase(creation)} was already charged. Returning transaction ${hash}.`;
	if (isExisting) hint('existing', existing);
	else for (const one of hints) if (one !== undefined) run.hint(one);
	if (amount != null && sent !== undefined && amount !== sent) {
		hint(
			'amount',
			`The service charges ${formatReais(amount)} with transaction ${hash}, but ${formatReais(sent)} was sent. Ask the service before the customer pays.`,
		);
	}
	if (!pix?.pix_qr_code) {
		hint(
			'noCode',
			`The service created no PIX code for transaction ${hash}; the payment status is ${status ?? 'not stated'}.`,
		);
	}
	return transaction;
}

function amountHint({ amount, cartTotal }: Charge): string | undefined {
	return amount === undefined || cartTotal === undefined || amount === cartTotal
		? undefined
		: `Amount is ${formatReais(amount)}, but the cart adds up to ${formatReais(cartTotal)}. The amount was sent as given.`;
}

function creationOf(
	run: Run,
	itemIndex: number,
	{ form, charge, problem }: ReadyCharge,
): Creation<Transaction> {
	const { body, account, about, fingerprint, isVague } = charge;
	const client = run.client();
	return {
		...run.deciding(itemIndex),
		account,
		kind: 'charge',
		about,
		fingerprint,
		isVague,
		orderReference: form.orderReference,
		repeatCode: form.options.repeatCode,
		problem,
		create: async (record) => await run.creating(createTransaction(client, body, record)),
		keep: ({ hash }) => ({ hash }),
		again: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
	};
}
