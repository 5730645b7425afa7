import type { Transaction } from '../../api';
import { formatReais, isPaid, isTooLateToPay, quoteText } from '../../domain';
import type { Created, Creation } from '../../idempotency';
import { clock, formatDay } from '../../shared';
import type { Run } from '../run';
import type { Charge } from './charge';
import { DOCUMENT, findDifferingFields } from './chargeMatch';
import type { ChargeForm } from './create.form';

interface Sent {
	form: ChargeForm;
	charge: Charge;
	creation: Creation<Transaction>;
	/** About the webhooks of the charge. */
	hint?: string;
}

export function addChargeHints(run: Run, sent: Sent, created: Created<Transaction>): void {
	const { made: transaction, isExisting, isDecided = false } = created;
	const { hash, pix, payment_status: status } = transaction;
	const addHint = (kind: string, message: string): void =>
		run.addHint(message, kind, `transaction ${hash}`);

	if (isExisting) addExistingHints(run, sent, created, addHint);
	else addMadeHints(run, sent, created, addHint);

	if (isDecided) {
		const { name } = sent.creation;
		addHint('decided', `Options > Charges in Doubt has worked: remove its entry for ${name}.`);
	}
	if (run.isAgentCall && sent.form.orderReference === undefined) {
		run.addHint(
			'Give this tool an Order Reference, such as the session and the offer, so that the same order in a later message is not charged again.',
		);
	}
	if (!pix?.pix_qr_code && !(isExisting && isTooLateToPay(status))) {
		addHint(
			'noCode',
			`The platform created no PIX code for transaction ${hash}; the payment status is ${status ?? 'not stated'}.`,
		);
	}
}

type AddHint = (kind: string, message: string) => void;

/** These describe the request. An existing transaction may come from another request. */
function addMadeHints(
	run: Run,
	{ charge, hint: webhookHint }: Sent,
	{ made, replacedHash }: Created<Transaction>,
	addHint: AddHint,
): void {
	const { amount, cartTotal } = charge;
	const { hash } = made;

	if (webhookHint !== undefined) run.addHint(webhookHint);
	if (cartTotal !== undefined && amount !== cartTotal) {
		run.addHint(
			`The amount in Custom Fields is ${formatReais(amount)}, but the cart adds up to ${formatReais(cartTotal)}. The amount was sent as given.`,
		);
	}
	if (replacedHash !== undefined) {
		addHint(
			'replaced',
			`Transaction ${replacedHash} has failed or expired, so transaction ${hash} was made instead.`,
		);
	}
	if (findDifferingFields(charge, made).includes(DOCUMENT)) {
		addHint(
			DOCUMENT,
			`The transaction ${hash} that was just made is for another CPF or CNPJ. Ask the platform before the customer pays or you deliver.`,
		);
	}
}

function addExistingHints(
	run: Run,
	{ form: { orderReference }, charge, creation }: Sent,
	{ made, isRepeated = false }: Created<Transaction>,
	addHint: AddHint,
): void {
	const { hash, amount } = made;

	if (isRepeated && orderReference === undefined) {
		run.addHint(
			(count) =>
				`${count} ${count === 1 ? 'item has' : 'items have'} the customer and cart of an earlier item of this execution, and got its charge. To charge each, give each its own Order Reference.`,
			'repeated',
			String(creation.itemIndex),
		);
	} else addHint('existing', `The customer was already charged. Returning transaction ${hash}.`);

	const age = describeAge(made, orderReference);
	if (age !== undefined) addHint('age', age);

	const fields = findDifferingFields(charge, made).join(' and ');
	if (fields !== '') {
		addHint(
			fields,
			`Transaction ${hash} was charged with another ${fields} than this item has, and stays as it is.`,
		);
	}
	if (amount != null && amount !== charge.amount) {
		addHint(
			'amount',
			`Transaction ${hash} charges ${formatReais(amount)}, and now it would be ${formatReais(charge.amount)}, perhaps because a price in the catalog has changed.`,
		);
	}
}

const DAY_MS = 86_400_000;
/** At the end of a reference for each month. */
const MONTH = /-\d{4}-\d\d$/;

/** A list that is run every day relies on getting its charges back, so an old charge only gets a hint. */
function describeAge(
	{ hash, created_at: createdAt, payment_status: status }: Transaction,
	orderReference: string | undefined,
): string | undefined {
	const createdMs = parseTime(createdAt);
	if (createdMs === undefined || clock.now() - createdMs <= DAY_MS) return undefined;

	const what = orderReference === undefined ? `Transaction ${hash}` : `Order ${orderReference}`;
	const happened = `${what} was charged on ${formatDay(createdMs)} and is`;
	if (!isTooLateToPay(status)) {
		return `${happened} not paid: its PIX code may be too old to pay; for a new code, cancel it on your platform and run this again.`;
	}

	const month = formatDay(clock.now()).split('/').slice(1).reverse().join('-');
	const order = orderReference?.replace(MONTH, '');
	const example = order ? `, such as ${order}-${month}` : '';
	const now = isPaid(status) ? 'paid' : quoteText(status ?? '');

	return `${happened} ${now}: a new purchase needs its own reference${example}.`;
}

const ZONED = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** A time without a zone is that of the dashboard, in Brasília. */
function parseTime(text: string | null | undefined): number | undefined {
	const typed = text?.trim() ?? '';
	if (!/^\d{4}-\d\d-\d\d/.test(typed)) return undefined;

	const date = typed.length === 10 ? `${typed}T00:00` : typed.replace(' ', 'T');
	const milliseconds = Date.parse(ZONED.test(date) ? date : `${date}-03:00`);

	return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
