import { omit } from 'lodash';
import { getTransaction, type Transaction, transactionTries } from '../../api';
import { hasFailed } from '../../domain';
import { createOnce, type Creation, makeKeys, refuseAhead } from '../../idempotency';
import { DEFAULT_CHARGE_FIELDS } from '../../output';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { buildCharge, type Charge, describeCharge, findPriceMismatch } from './charge';
import { addChargeHints } from './chargeHints';
import { findDifferences } from './chargeMatch';
import { type ChargeForm, chargeForm } from './create.form';
import { findDecision, nameOfCharge } from './decisions';
import { fillCart } from './fillCart';
import { resolveNotificationAddress } from './notificationAddress';
import { buildTransactionItem } from './transactionItem';

interface ReadyCharge {
	form: ChargeForm;
	charge: Charge;
	/** About the webhooks of the charge. */
	hint?: string;
}

interface CheckedCharge extends ReadyCharge {
	creation: Creation<Transaction>;
}

/** Transaction > Create PIX: POST /transactions (API document, Endpoint 3). */
export const createTransactionOperation: Operation<ChargeForm, ReadyCharge, CheckedCharge> = {
	resource: 'transaction',
	name: 'Create PIX',
	value: 'create',
	action: 'Create a PIX transaction',
	description: 'Charge a customer by PIX and get the code to pay with',
	form: chargeForm,
	manyItemsHint:
		'Charges a customer for each input item. To charge only once, turn on Execute Once in the Settings of this node.',
	kind: 'create',
	async complete(run, typed) {
		const { url, hint } = await resolveNotificationAddress(run, typed);
		const options = { ...typed.options, notificationUrl: url };
		const form = await fillCart(run, { ...typed, options });
		return { form, charge: buildCharge(run, { form, typed }), hint };
	},
	async check(run, itemIndex, ready) {
		const creation = buildCreation(run, itemIndex, ready);
		await refuseAhead(creation);
		return { ...ready, creation };
	},
	about: ({ charge }) => describeCharge(charge),
	async send(run, _itemIndex, checked) {
		const { form, creation } = checked;
		const created = await createOnce(creation);
		addChargeHints(run, checked, created);
		const { made: transaction, isReplayed } = created;
		const { simplify, options } = form;
		const { fields = DEFAULT_CHARGE_FIELDS, qrCodeImage = true } = options;
		const item = await buildTransactionItem(run, transaction, { simplify, fields, qrCodeImage });
		// Nodes and models see no hints, so an item has a flag. It replaces a platform field of the same name.
		const others = omit(item.json, 'already_charged');
		const json = { hash: transaction.hash, ...others, already_charged: isReplayed };
		return [{ ...item, json }];
	},
};

function buildCreation(run: Run, itemIndex: number, ready: ReadyCharge): Creation<Transaction> {
	const { form, charge } = ready;
	const { orderReference, options } = form;
	const client = run.newClient();
	const subject = {
		...run.creationContext(itemIndex),
		account: run.account,
		kind: 'charge',
		fingerprint: charge.fingerprint,
		contact: charge.contactKey,
		customer: charge.customerKey,
		orderReference,
		name: nameOfCharge(orderReference, charge.contact),
		about: describeCharge(charge),
	} as const;

	return {
		...subject,
		...makeKeys(subject),
		decision: findDecision(options.chargesInDoubt, orderReference, charge.contact),
		problem: findPriceMismatch(run, ready),
		tries: transactionTries(client, charge.body),
		toStoredResult: ({ hash }) => ({ hash }),
		readAgain: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
		findDifferences: (made) => findDifferences(charge, made),
	};
}
