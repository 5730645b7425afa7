import { memoize, omit } from 'lodash';
import { getTransaction, type Transaction, transactionTries } from '../../api';
import { hasFailed } from '../../domain';
import { createOnce, type Creation, makeKeys, refuseAhead } from '../../idempotency';
import { DEFAULT_CHARGE_FIELDS } from '../../output';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { buildCharge, type Charge, describeCharge } from './charge';
import { addChargeHints } from './chargeHints';
import { findDecision, findDifferences, nameOfCharge } from './chargeMatch';
import { type ChargeForm, chargeForm } from './create.form';
import { fillCart } from './fillCart';
import { resolveNotificationAddress } from './notificationAddress';
import { findPriceMismatch } from './priceMismatch';
import { buildTransactionItem } from './transactionItem';

/** Transaction > Create PIX: POST /transactions (API document, Endpoint 3). */
export const createTransactionOperation: Operation<ChargeForm> = {
	resource: 'transaction',
	name: 'Create PIX',
	value: 'create',
	action: 'Create a PIX transaction',
	description: 'Charge a customer by PIX and get the code to pay with',
	form: chargeForm,
	manyItemsHint:
		'Charges a customer for each input item. To charge only once, turn on Execute Once in the Settings of this node.',
	kind: 'create',
	async prepare(run, itemIndex, typed) {
		const address = await resolveNotificationAddress(run, typed);
		const options = { ...typed.options, notificationUrl: address.url };
		const form = await fillCart(run, { ...typed, options });
		const charge = buildCharge(run, form, typed);
		// Not before all items are prepared: an item that asks for a charge first keeps it in every Retry, and the catalog
		// may still be read for later items.
		const creation = memoize(() => buildCreation(run, itemIndex, form, charge));

		return {
			about: describeCharge(charge),
			check: async () => await refuseAhead(creation()),
			async send() {
				const created = await createOnce(creation());
				const { hint } = address;
				addChargeHints(run, { form, charge, creation: creation(), hint }, created);

				const { fields = DEFAULT_CHARGE_FIELDS, qrCodeImage = true } = options;
				const choice = { simplify: form.simplify, fields, qrCodeImage };
				const item = await buildTransactionItem(run, created.made, choice);

				// Nodes and models see no hints, so an item has a flag. It replaces a platform field of the same name.
				const others = omit(item.json, 'already_charged');
				const json = { hash: created.made.hash, ...others, already_charged: created.isReplayed };
				return [{ ...item, json }];
			},
		};
	},
};

function buildCreation(
	run: Run,
	itemIndex: number,
	form: ChargeForm,
	charge: Charge,
): Creation<Transaction> {
	const { orderReference, options } = form;
	const client = run.newClient();
	const subject = {
		...run.creationContext(itemIndex),
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
		problem: findPriceMismatch(run.account, form, charge),
		tries: transactionTries(client, charge.body),
		toStoredResult: ({ hash }) => ({ hash }),
		readAgain: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
		findDifferences: (made) => findDifferences(charge, made),
	};
}
