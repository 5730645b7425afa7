import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import type { Account } from '../../api/account';
import type { Transaction } from '../../api/schemas/transaction';
import { createTransaction, getTransaction } from '../../api/transactions';
import { formatReais } from '../../domain/money';
import { hasFailed } from '../../domain/paymentStatus';
import { typedCodes } from '../../once/code';
import { createOnce, type Creation } from '../../once/createOnce';
import { chargeFingerprint, identify } from '../../once/identity';
import { customerOf } from '../../once/refusals';
import { nothingSent } from '../../form/nothingSent';
import { readForm } from '../../form/readForm';
import { qrCodeProperty } from '../../form/qrCodeOptions';
import { clientOptions } from '../../form/requestOptions';
import { notificationAddress, type NotificationAddress } from './notify';
import type { ItemRun, Operation, PreparedItem } from '../operation';
import { cartTotal, refuseInexactTotal } from './cartTotal';
import { createBody, describeCharge } from './createBody';
import { createProperties } from './createForm';
import { createSchema, type CreateForm, type CreateReading } from './createSchema';
import { fillCart, mayBeFilled } from './fillCart';
import { pixOutput } from './pixOutput';
import { transactionOutput } from '../../output/transaction';

/** Transaction > Create PIX: POST /transactions (API document, Endpoint 3). */
export const createTransactionOperation: Operation = {
	name: 'Create PIX',
	value: 'create',
	action: 'Create a PIX transaction',
	description: 'Charge a customer by PIX and get the code to pay with',
	properties: createProperties,
	serviceFields: {
		amount: 'additionalFields.amount',
		cart: 'cart',
		'cart.*.offer_hash': 'cart.items.*.offerHash',
		'cart.*.price': 'cart.items.*.price',
		'cart.*.quantity': 'cart.items.*.quantity',
		'cart.*.operation_type': 'cart.items.*.operationType',
		'cart.*.title': 'cart.items.*.title',
		'cart.*.cover': 'cart.items.*.cover',
		installments: 'additionalFields.installments',
		'customer.name': 'customerName',
		'customer.email': 'customerEmail',
		'customer.phone_number': 'customerPhone',
		'customer.document': 'customerDocument',
		tracking: 'additionalFields.tracking',
		'tracking.src': 'additionalFields.tracking.src',
		'tracking.utm_source': 'additionalFields.tracking.utmSource',
		'tracking.utm_campaign': 'additionalFields.tracking.utmCampaign',
		'tracking.utm_content': 'additionalFields.tracking.utmContent',
		'tracking.utm_term': 'additionalFields.tracking.utmTerm',
		'tracking.utm_medium': 'additionalFields.tracking.utmMedium',
		webhook_url: 'notificationUrl',
	},
	manyItemsHint:
		'Charges a customer for each input item. To charge only once, turn on Execute Once in the Settings of this node.',
	creates: true,
	prepare(context, itemIndex, account) {
		const form = readForm(
			context,
			itemIndex,
			createProperties,
			createSchema(readingOf(context, itemIndex)),
		);
		refuseEmptyCart(context, itemIndex, form);
		const notification = notificationAddress(
			context,
			itemIndex,
			account,
			form.notify,
			form.notificationUrl,
		);
		// What was asked for stays the same in each try, whatever the catalog says meanwhile.
		const fingerprint = chargeFingerprint(createBody(form, undefined));
		const charge = { context, itemIndex, account, fingerprint, notification };
		const prepared = preparedCharge(form, charge);
		if (!mayBeFilled(form)) return prepared;
		return {
			...prepared,
			async complete(catalog, hint) {
				const filled = await fillCart(form, catalog, hint);
				return preparedCharge(filled, charge);
			},
		};
	},
};

/** What stays the same of a charge whether or not the catalog filled its blanks. */
interface Charge {
	context: IExecuteFunctions;
	itemIndex: number;
	account: Account;
	fingerprint: string;
	notification: NotificationAddress;
}

function preparedCharge(form: CreateForm, charge: Charge): PreparedItem {
	const { context, notification } = charge;
	refuseInexactTotal(context, charge.itemIndex, form);
	const body = createBody(form, notification.url);
	return {
		clientOptions: clientOptions(form.options),
		about: describeCharge(body),
		async send(run) {
			const { hint } = run;
			if (notification.hint !== undefined) hint(notification.hint);
			const totalHint = cartTotalHint(form);
			if (totalHint !== undefined) hint(totalHint);
			const creation = creationOf(form, body, charge, run);
			const { made: transaction, isExisting } = await createOnce(creation);
			if (isExisting) {
				hint(
					`${customerOf(creation)} was already charged. Returning transaction ${transaction.hash}.`,
				);
			}
			const { payment_status: status, pix } = transaction;
			if (!pix)
				hint(`The service created no PIX code; the payment status is ${status ?? 'not stated'}.`);
			const binary = await pixOutput(transaction, {
				context,
				hint,
				qrCodeProperty: qrCodeProperty(form.options),
			});
			return [
				{
					json: transactionOutput(transaction, form.simplify, form.options.outputUnit),
					...(binary && { binary }),
				},
			];
		},
	};
}

function creationOf(
	form: CreateForm,
	body: IDataObject,
	charge: Charge,
	{ client, memory }: ItemRun,
): Creation<Transaction> {
	const { context, itemIndex, account, fingerprint } = charge;
	const { orderReference } = form.additionalFields;
	return {
		context,
		itemIndex,
		kind: 'charge',
		about: describeCharge(body),
		amount: typeof body.amount === 'number' ? body.amount : undefined,
		orderReference,
		account: account.key,
		identity: identify(context, account, memory, { fingerprint, orderReference, itemIndex }),
		memory,
		codes: typedCodes(form.options.repeatCode),
		create: async () => await createTransaction(client, body),
		keep: ({ hash }) => ({ hash }),
		again: async ({ hash }) => await getTransaction(client, String(hash)),
		isVoid: ({ payment_status }) => hasFailed(payment_status),
	};
}

function readingOf(context: IExecuteFunctions, itemIndex: number): CreateReading {
	const unit = context.getNodeParameter('options.amountUnit', itemIndex, 'cents');
	const check = context.getNodeParameter('options.checkCustomer', itemIndex, true);
	return {
		unit: unit === 'reais' ? 'reais' : 'cents',
		checkCustomer: check !== false && check !== 'false',
	};
}

function refuseEmptyCart(context: IExecuteFunctions, itemIndex: number, form: CreateForm): void {
	const { amount, customFields } = form.additionalFields;
	if (form.cart.items.length > 0 || amount !== undefined || customFields?.cart) return;
	throw new NodeOperationError(context.getNode(), 'Cart is empty', {
		itemIndex,
		description: `Add an item to Cart, or set Additional Fields > Amount.\n${nothingSent(context, itemIndex)}`,
	});
}

function cartTotalHint(form: CreateForm): string | undefined {
	const { amount } = form.additionalFields;
	const total = cartTotal(form);
	if (amount === undefined || total === undefined || amount === total) return undefined;
	return `Amount is ${formatReais(amount)}, but the cart adds up to ${formatReais(total)}. The amount was sent as given.`;
}
