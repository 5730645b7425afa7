import { memoize, omit } from 'lodash';
import { getTransaction, type Transaction, transactionTries } from '../../api';
import { hasFailed } from '../../domain';
import { createOnce, type Creation, makeKeys, refuseAhead } from '../../idempotency';
import { DEFAULT_CHARGE_FIELDS } from '../../output';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { buildCharge, type Charge } from './charge';
import { addChargeHints } from './chargeHints';
import { findDecision, findDifferences, nameOfCharge } from './chargeMatch';
import { type ChargeForm, chargeForm } from './create.form';
import { fillCart, findPriceMismatch } from './fillCart';
import { resolveNotificationAddress } from './notificationAddress';
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
		const filled = await fillCart(run, { ...typed, options });
		const charge = buildCharge(run, { typed, filled });
		// Built after all items are prepared: `makeKeys` records which item asked first for a charge, and Retries keep that.
		// The price check also needs the prices that later items look up.
		const creation = memoize(() => buildCreation(run, itemIndex, filled, charge));

		return {
			about: charge.about,
			check: async () => await refuseAhead(creation()),
			async send() {
				const created = await createOnce(creation());
				const sent = { charge, creation: creation(), hint: address.hint };
				addChargeHints(run, sent, created);

				const { fields = DEFAULT_CHARGE_FIELDS, qrCodeImage = true } = options;
				const choice = { simplify: typed.simplify, fields, qrCodeImage };
				const item = await buildTransactionItem(run, created.made, choice);

				// The hash is the first column and the flag the last, whatever the platform sends. Nodes and models see no hints,
				// so an item has a flag.
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
		about: charge.about,
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
