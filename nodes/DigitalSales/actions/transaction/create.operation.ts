import compact from 'lodash/compact';
import type { Transaction } from '../../api/schemas/transaction';
import { getTransaction, transactionTries } from '../../api/transactions';
import { formatReais } from '../../domain/money';
import { hasFailed, isTooLateToPay } from '../../domain/paymentStatus';
import { readForm } from '../../form/readForm';
import { createOnce } from '../../once/createOnce';
import type { Creation } from '../../once/creation';
import { isKnown } from '../../once/earlier';
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
	/** What is wrong with a charge that may exist already: then it is returned all the same. */
	problem?: Refusal;
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
	read: ({ context }, itemIndex) => readForm(context, itemIndex, chargeForm),
	async complete(run, itemIndex, typed) {
		const { url, hint } = await notificationAddress(run, itemIndex, typed);
		const form = await fillCart(run, itemIndex, { ...typed, notificationUrl: url });
		return { form, charge: chargeOf(run, itemIndex, { form, typed }), hint };
	},
	check(run, itemIndex, ready) {
		const problem = priceMismatch(run, ready);
		// What exists is returned whatever the catalog says now.
		if (problem && !isKnown(creationOf(run, itemIndex, ready))) throw problem;
		return { ...ready, problem };
	},
	about: ({ charge }) => charge.about,
	async send(run, itemIndex, ready) {
		const { form } = ready;
		const transaction = await charged(run, itemIndex, ready);
		const options = { ...form.options, qrCodeImage: form.qrCodeImage };
		return [await transactionItem(run, transaction, { ...form, options })];
	},
};

async function charged(run: Run, itemIndex: number, ready: ReadyCharge): Promise<Transaction> {
	const creation = creationOf(run, itemIndex, ready);
	const { made: transaction, isExisting } = await createOnce(creation);
	const { amount: sent } = ready.charge;
	const { hash, amount, pix, payment_status: status } = transaction;
	const hint = (kind: string, message: string): void =>
		run.hint(message, kind, `transaction ${hash}`);
	if (isExisting) {
		const who = customerPhrase(creation);
		hint('existing', `${who} was already charged. Returning transaction ${hash}.`);
	} else {
		// About what was sent, from which an existing one may differ.
		for (const text of compact([ready.hint, amountHint(ready.charge)])) run.hint(text);
	}
	if (amount != null && sent !== undefined && amount !== sent) {
		const ask = 'ask the service before the customer pays';
		hint(
			'amount',
			isExisting
				? `Transaction ${hash} charges ${formatReais(amount)}, and now it would be ${formatReais(sent)}. Unless a price in the catalog has changed since, ${ask}.`
				: `The service charges ${formatReais(amount)} with transaction ${hash}, but ${formatReais(sent)} was sent: ${ask}.`,
		);
	}
	if (!pix?.pix_qr_code && !(isExisting && isTooLateToPay(status))) {
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

function creationOf(run: Run, itemIndex: number, ready: ReadyCharge): Creation<Transaction> {
	const { form, charge, problem } = ready;
	const { account, fingerprint, typed, customer, about, body } = charge;
	const shared = run.creating(itemIndex);
	const client = run.client();
	return {
		...shared,
		account,
		fingerprint,
		typed,
		customer,
		orderReference: form.orderReference,
		kind: 'charge',
		about,
		repeatCode: form.options.repeatCode,
		problem,
		tries: transactionTries(client, body),
		keep: ({ hash }) => ({ hash }),
		again: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
	};
}
