import compact from 'lodash/compact';
import type { Transaction } from '../../api/schemas/transaction';
import { getTransaction, transactionTries } from '../../api/transactions';
import { formatReais } from '../../domain/money';
import { hasFailed, isPaid, isTooLateToPay } from '../../domain/paymentStatus';
import { readForm } from '../../form/readForm';
import { createOnce, refuseAhead } from '../../idempotency/createOnce';
import type { Created, Creation } from '../../idempotency/creation';
import { isTool } from '../../n8n/tool';
import { hasEarlierAttempt } from '../../idempotency/earlier';
import { normalizeContact } from '../../idempotency/fingerprints';
import type { NotSentError } from '../../output/errors';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { type Charge, buildCharge, findPriceMismatch } from './charge';
import { type ChargeForm, chargeForm } from './create.form';
import { fillCart } from './fillCart';
import { resolveNotificationAddress } from './notificationAddress';
import { buildTransactionItem } from './transactionItem';

interface ReadyCharge {
	form: ChargeForm;
	charge: Charge;
	/** About its notifications. */
	hint?: string;
	/** What is wrong with a charge that may exist already: then it is returned all the same. */
	problem?: NotSentError;
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
	kind: 'create',
	read: ({ context }, itemIndex) => readForm(context, itemIndex, chargeForm),
	async complete(run, itemIndex, typed) {
		const { url, hint } = await resolveNotificationAddress(run, itemIndex, typed);
		const form = await fillCart(run, itemIndex, { ...typed, notificationUrl: url });
		return { form, charge: buildCharge(run, itemIndex, { form, typed }), hint };
	},
	async check(run, itemIndex, ready) {
		const problem = findPriceMismatch(run, ready);
		const creation = creationOf(run, itemIndex, ready);
		// What exists is returned whatever the catalog says now.
		if (problem && !hasEarlierAttempt(creation)) throw problem;
		await refuseAhead(creation);
		return { ...ready, problem };
	},
	about: ({ charge }) => charge.about,
	async send(run, itemIndex, ready) {
		const { form } = ready;
		const { made, isExisting } = await charged(run, itemIndex, ready);
		const options = { ...form.options, qrCodeImage: form.qrCodeImage };
		const item = await buildTransactionItem(run, made, { ...form, options });
		// Hints reach neither an If node nor a model. It stands beside the hash, and no field of the service hides it.
		const own = { already_charged: isExisting };
		const json = Object.assign({ hash: made.hash }, own, item.json, own);
		return [{ ...item, json }];
	},
};

async function charged(
	run: Run,
	itemIndex: number,
	ready: ReadyCharge,
): Promise<Created<Transaction>> {
	const creation = creationOf(run, itemIndex, ready);
	const created = await createOnce(creation);
	const { made: transaction, isExisting, reusesHash: isRepeated } = created;
	const { amount: sent } = ready.charge;
	const { hash, amount, pix, payment_status: status } = transaction;
	const hint = (kind: string, message: string): void =>
		run.hint(message, kind, `transaction ${hash}`);
	const others = othersOf(ready.charge, transaction);
	if (isExisting) {
		hint('existing', `The customer was already charged. Returning transaction ${hash}.`);
		if (others.length > 0) {
			const names = others.join(' and ');
			hint(
				names,
				`Transaction ${hash} was charged with another ${names} than this item has, and stays as it is.`,
			);
		}
	} else {
		// About what was sent, from which an existing one may differ.
		for (const text of compact([ready.hint, amountHint(ready.charge)])) run.hint(text);
		const odd = compact([
			isRepeated && 'is that of an earlier charge',
			others.includes(DOCUMENT) && 'is for another CPF or CNPJ',
			isPaid(status) && 'is paid already',
		]);
		const toDo = 'Ask the service before the customer pays or you deliver.';
		for (const is of odd) hint(is, `The transaction ${hash} that was just made ${is}. ${toDo}`);
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
	return created;
}

const DOCUMENT = 'Customer CPF or CNPJ';

/** The fields of the customer that are stated on both sides, not masked, and not the same. */
function othersOf({ body }: Charge, { customer }: Transaction): string[] {
	const [asked, stated] = [normalizeContact(body.customer), normalizeContact(customer)];
	const isOther = (field: keyof typeof asked): boolean => {
		const { [field]: value } = stated;
		return Boolean(asked[field] && value) && asked[field] !== value && !value?.includes('*');
	};
	return compact([
		isOther('document') && DOCUMENT,
		isOther('email') && 'Customer Email',
		isOther('phone') && 'Customer Phone',
	]);
}

function amountHint({ amount, cartTotal }: Charge): string | undefined {
	return amount === undefined || cartTotal === undefined || amount === cartTotal
		? undefined
		: `Amount in Reais is ${formatReais(amount)}, but the cart adds up to ${formatReais(cartTotal)}. The amount was sent as given.`;
}

function creationOf(run: Run, itemIndex: number, ready: ReadyCharge): Creation<Transaction> {
	const { form, charge, problem } = ready;
	const { account, fingerprint, agentCall, typedFingerprint, about, body } = charge;
	const shared = run.creating(itemIndex);
	const client = run.client();
	return {
		...shared,
		account,
		fingerprint,
		agentCall,
		typedFingerprint,
		goodsFingerprint: charge.goodsFingerprint,
		customerFingerprint: charge.customerFingerprint,
		orderReference: form.orderReference,
		kind: 'charge',
		about,
		enteredCodes: form.options.repeatCode,
		problem,
		tries: transactionTries(client, body),
		toStoredResult: ({ hash }) => ({ hash }),
		readAgain: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
		matchesRequest: (made) => {
			const others = othersOf(charge, made);
			// A document alone tells who it is: the rest may have been corrected.
			const { document } = normalizeContact(made.customer);
			const isStated =
				document && !document.includes('*') && normalizeContact(body.customer).document;
			const isOther =
				isStated && !isTool(run.context) ? others.includes(DOCUMENT) : others.length > 0;
			const isAmount = [null, undefined, charge.amount].includes(made.amount);
			return !isOther && (isAmount || charge.isFilled);
		},
	};
}
