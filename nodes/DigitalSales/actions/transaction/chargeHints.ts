import { compact } from 'lodash';
import type { Transaction } from '../../api';
import { formatReais, isPaid, isTooLateToPay } from '../../domain';
import type { Created, Creation } from '../../idempotency';
import type { Run } from '../run';
import type { Charge } from './charge';
import { DOCUMENT, findDifferingFields } from './chargeMatch';
import type { ChargeForm } from './create.form';

export function addChargeHints(
	run: Run,
	{
		form,
		charge,
		creation,
		hint: webhookHint,
	}: {
		form: ChargeForm;
		charge: Charge;
		creation: Creation<Transaction>;
		hint?: string;
	},
	{ made: transaction, isExisting, hasKnownHash, replacedHash }: Created<Transaction>,
): void {
	const { amount: requested, cartTotal } = charge;
	const typedAmountHint =
		cartTotal !== undefined &&
		requested !== cartTotal &&
		`Amount in Reais is ${formatReais(requested)}, but the cart adds up to ${formatReais(cartTotal)}. The amount was sent as given.`;
	const { hash, amount, pix, payment_status: status } = transaction;
	const addHint = (kind: string, message: string): void =>
		run.addHint(message, kind, `transaction ${hash}`);
	const differing = findDifferingFields(charge, transaction);
	if (isExisting) {
		addHint('existing', `The customer was already charged. Returning transaction ${hash}.`);
		const fields = differing.join(' and ');
		if (fields !== '') {
			addHint(
				fields,
				`Transaction ${hash} was charged with another ${fields} than this item has, and stays as it is.`,
			);
		}
	} else {
		// These describe the request. An existing transaction may come from another request.
		for (const text of compact([webhookHint, typedAmountHint])) run.addHint(text);
		if (replacedHash !== undefined) {
			addHint(
				'replaced',
				`Transaction ${replacedHash} has failed or expired, so transaction ${hash} was made instead.`,
			);
		}
		const [purchase] = creation.itemNumbers;
		if (purchase && purchase.number > 0 && form.orderReference === undefined) {
			addHint(
				'equal',
				`Transaction ${hash} is one more charge for the same customer and cart in this execution. If an earlier node has doubled the items, cancel it in the service.`,
			);
		}
		const oddities = compact([
			hasKnownHash && 'has the hash of an earlier charge',
			differing.includes(DOCUMENT) && 'is for another CPF or CNPJ',
			isPaid(status) && 'is paid already',
		]);
		const advice = 'Ask the service before the customer pays or you deliver.';
		for (const oddity of oddities) {
			addHint(oddity, `The transaction ${hash} that was just made ${oddity}. ${advice}`);
		}
	}
	if (amount != null && amount !== requested) {
		const advice = 'ask the service before the customer pays';
		addHint(
			'amount',
			isExisting
				? `Transaction ${hash} charges ${formatReais(amount)}, and now it would be ${formatReais(requested)}. Unless a price in the catalog has changed since, ${advice}.`
				: `The service charges ${formatReais(amount)} with transaction ${hash}, but ${formatReais(requested)} was sent: ${advice}.`,
		);
	}
	if (!pix?.pix_qr_code && !(isExisting && isTooLateToPay(status))) {
		addHint(
			'noCode',
			`The service created no PIX code for transaction ${hash}; the payment status is ${status ?? 'not stated'}.`,
		);
	}
}
