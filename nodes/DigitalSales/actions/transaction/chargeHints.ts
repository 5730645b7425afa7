import type { Transaction } from '../../api';
import { isPaid, isTooLateToPay, quoteText } from '../../domain';
import type { Created, Creation } from '../../idempotency';
import { clock } from '../../shared';
import type { Run } from '../run';
import { type Charge, CUSTOMER_LABELS } from './charge';
import { findDifferingFields } from './chargeMatch';

interface Sent {
	charge: Charge;
	creation: Creation<Transaction>;
	/** About the webhooks of the charge. */
	hint?: string;
}

export function addChargeHints(run: Run, sent: Sent, created: Created<Transaction>): void {
	const { hash, pix, payment_status } = created.made;

	if (created.isExisting) addExistingHints(run, sent, created);
	else addMadeHints(run, sent, created);

	if (created.isDecided === true) {
		run.addHint('Options > Charges in Doubt has worked: remove its entry.', sent.creation.name);
	}
	if (run.isAgentCall && sent.creation.orderReference === undefined) {
		run.addHint(
			'Give this tool an Order Reference, such as the session and the offer, so that the same order in a later message is not charged again.',
		);
	}
	if (!pix?.pix_qr_code && !(created.isExisting && isTooLateToPay(payment_status))) {
		run.addHint(
			`No PIX code was created; the payment status is ${quoteText(payment_status ?? 'not stated')}.`,
			`Transaction ${hash}`,
		);
	}
}

/** These describe the request. An existing transaction may come from another request. */
function addMadeHints(run: Run, sent: Sent, { made, replacedHash }: Created<Transaction>): void {
	const { amount, cartTotal } = sent.charge;
	const about = `Transaction ${made.hash}`;

	if (sent.hint !== undefined) run.addHint(sent.hint);
	if (cartTotal > 0 && amount !== cartTotal) {
		run.addHint('The amount in Custom Fields was sent, and the cart adds up to another.', about);
	}
	if (replacedHash !== undefined) {
		run.addHint('It has failed or expired, so another was made.', `Transaction ${replacedHash}`);
	}
	if (findDifferingFields(sent.charge, made).includes(CUSTOMER_LABELS.document)) {
		run.addHint(
			'It was just made, and is for another CPF or CNPJ. Ask the platform before the customer pays or you deliver.',
			about,
		);
	}
}

function addExistingHints(run: Run, sent: Sent, { made }: Created<Transaction>): void {
	const { itemIndex, isFirst, orderReference } = sent.creation;
	const about = `Transaction ${made.hash}`;

	if (!isFirst && orderReference === undefined) {
		run.addHint(
			'It has the customer and cart of an earlier item of this execution, and got its charge. To charge each, give each its own Order Reference.',
			`Item ${itemIndex}`,
		);
	} else run.addHint('The customer was already charged.', about);

	const age = describeAge(made);
	if (age !== undefined) run.addHint(age, about);

	const differing = findDifferingFields(sent.charge, made);
	if (made.amount != null && made.amount !== sent.charge.amount) differing.push('amount');
	if (differing.length > 0) {
		run.addHint(
			`It was charged with another ${differing.join(' and ')} than this item has, and stays as it is.`,
			about,
		);
	}
}

const DAY_MS = 86_400_000;

/** A list that is run every day relies on getting its charges back, so an old charge only gets a hint. */
function describeAge(transaction: Transaction): string | undefined {
	const status = transaction.payment_status;
	const createdMs = parseTime(transaction.created_at);
	if (createdMs === undefined || clock.now() - createdMs <= DAY_MS) return undefined;

	if (!isTooLateToPay(status)) {
		return 'It is over a day old and not paid: its PIX code may be too old to pay; for a new code, cancel it on your platform and run this again.';
	}

	const now = isPaid(status) ? 'paid' : quoteText(status ?? '');
	return `It is over a day old and ${now}: a new purchase needs its own reference.`;
}

/** A time without a zone is that of the platform's dashboard, in Brasília. */
function parseTime(text: string | null | undefined): number | undefined {
	const [, date, time = '00:00', zone = '-03:00'] =
		/^(\d{4}-\d\d-\d\d)(?:[T ]([\d:.]+))? ?(Z|[+-]\d\d:?\d\d)?$/i.exec(text?.trim() ?? '') ?? [];

	return Date.parse(`${date}T${time}${zone}`) || undefined;
}
