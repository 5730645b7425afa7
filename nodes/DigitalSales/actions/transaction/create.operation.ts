import { memoize, once } from 'lodash';
import { getTransaction, type Transaction, transactionTries } from '../../api';
import { hasFailed, quoteText } from '../../domain';
import { type Created, createOnce, type Creation, makeKeys, refuseAhead } from '../../idempotency';
import { DEFAULT_CHARGE_FIELDS } from '../../output';
import type { CreateOperation } from '../operation';
import type { Run } from '../run';
import { buildCharge, type Charge } from './charge';
import { findDecision, findDifferences, nameOfCharge } from './chargeMatch';
import { type ChargeForm, chargeForm } from './create.form';
import { findPriceMismatch } from './fillCart';
import { resolveNotificationAddress } from './notificationAddress';
import { buildTransactionItem } from './transactionItem';

/** Transaction > Create PIX: POST /transactions (API document, Endpoint 3). */
export const createTransactionOperation: CreateOperation<ChargeForm> = {
	resource: 'transaction',
	name: 'Create PIX',
	value: 'create',
	action: 'Create a PIX transaction',
	description: 'Charge a customer by PIX and get the code to pay with',
	form: chargeForm,
	manyItemsHint:
		'Charges a customer for each input item. To charge only once, turn on Execute Once in the Settings of this node.',
	kind: 'create',
	async prepare(run, itemIndex, form) {
		const address = await resolveNotificationAddress(run, form);
		const charge = await buildCharge(run, form, address.url);
		// Built after all items are prepared: `makeKeys` records which item asked first for a charge, and Retries keep that.
		const creation = memoize(() => buildCreation(run, itemIndex, form, charge));

		return {
			about: charge.about,
			check: async () => await refuseAhead(creation()),
			async send() {
				const created = await createOnce(creation());
				addHints(run, creation(), created, charge.amount);
				if (address.hint !== undefined && !created.isExisting) run.addHint(address.hint);

				const { fields = DEFAULT_CHARGE_FIELDS, qrCodeImage = true } = form.options;
				const choice = { simplify: form.simplify, fields, qrCodeImage };
				const item = await buildTransactionItem(run, created.made, choice);

				// The hash is the first column and the flag the last. Nodes and models see no hints, so an item has a flag.
				const { hash } = created.made;
				const json = { hash, ...item.json, already_charged: created.isReplayed };
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
		...charge.digests,
		kind: 'charge',
		orderReference,
		name: nameOfCharge(orderReference, charge.contact),
		about: charge.about,
	} as const;
	const decision = findDecision(options.chargesInDoubt, orderReference, charge.contact);

	return {
		...subject,
		...makeKeys(subject),
		decision,
		// Once, so that a price that changes meanwhile stops no list half-way.
		findProblem: once(() => findPriceMismatch(run.account, form, charge.cart)),
		tries: transactionTries(client, charge.body),
		toStoredResult: ({ hash }) => ({ hash }),
		readAgain: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
		findDifferences: (made) => findDifferences(charge, made),
	};
}

/** @param amount that this item asks for, in cents */
function addHints(
	{ addHint, isAgentCall }: Run,
	{ name, orderReference }: Creation<Transaction>,
	{ made, isExisting, isDecided, replacedHash }: Created<Transaction>,
	amount: number,
): void {
	const about = `Transaction ${made.hash}`;

	if (isExisting) {
		addHint('The customer was already charged. A new purchase needs its own reference.', about);
	}
	if (made.amount != null && made.amount !== amount) {
		addHint('Its amount differs from the one that this item asks for.', about);
	}
	if (replacedHash !== undefined) {
		addHint('It has failed or expired, so another was made.', `Transaction ${replacedHash}`);
	}
	if (isDecided === true) {
		addHint('Options > Charges in Doubt has worked: remove its entry.', name);
	}
	if (isAgentCall && orderReference === undefined) {
		addHint(
			'Give this tool an Order Reference, such as the session and the offer, so that the same order in a later message is not charged again.',
		);
	}
	if (!isExisting && !made.pix?.pix_qr_code) {
		const status = quoteText(made.payment_status ?? 'not stated');
		addHint(`No PIX code was created; the payment status is ${status}.`, about);
	}
}
