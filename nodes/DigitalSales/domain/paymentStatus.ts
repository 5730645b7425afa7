/**
 * Payment statuses in groups that mean something to a person. Only `waiting_payment` and `paid` are
 * documented; the others are a guess by their meaning. Unlisted values pass through.
 */
export const STATUS_GROUPS: Readonly<Record<StatusGroup, readonly string[]>> = {
	paid: ['paid'],
	waiting: [
		'waiting_payment',
		'pending',
		'processing',
		'prossessing',
		'authorized',
		'antifraud',
		'analyzing',
		'pending_review',
	],
	failed: ['refused', 'rejected', 'declined', 'failed', 'canceled', 'cancelled', 'expired'],
	reversed: [
		'refunded',
		'waiting_refund',
		'chargeback',
		'chargedback',
		'pre_chargeback',
		'med_analysis',
		'med_received',
	],
};

export type StatusGroup = 'paid' | 'waiting' | 'failed' | 'reversed';

export function isStatusGroup(text: string): text is StatusGroup {
	return Object.hasOwn(STATUS_GROUPS, text);
}

/** As the service states it, or not. */
export type Status = string | null | undefined;

/** The statuses that end a payment; every other value may still become one of these. */
const SETTLED: ReadonlySet<Status> = new Set([
	...['paid', 'refunded', 'chargeback', 'chargedback'],
	...STATUS_GROUPS.failed,
]);

/** Whether a payment with this status is decided. */
export function isSettled(status: Status): boolean {
	return SETTLED.has(status);
}

/** What may become of a payment. One that had expired or was refused may be paid all the same. */
const FOLLOWING: Readonly<Record<StatusGroup, readonly StatusGroup[]>> = {
	waiting: ['failed', 'paid', 'reversed'],
	failed: ['paid'],
	paid: ['reversed'],
	reversed: [],
};

/** The group of a status that is listed. */
export function groupOf(status: Status): StatusGroup | undefined {
	const groups = Object.keys(STATUS_GROUPS).filter(isStatusGroup);
	return groups.find((group) => STATUS_GROUPS[group].includes(String(status)));
}

/** Whether a status comes after another one in the life of a payment; of statuses that are not listed, nobody knows. */
export function isLater(status: Status, than: Status): boolean {
	const [group, before] = [groupOf(status), groupOf(than)];
	if (!group || !before) return false;
	if (group === before) return isSettled(status) && !isSettled(than);
	return FOLLOWING[before].includes(group);
}

/** Whether the service says that the money has arrived; `authorized` is not paid. */
export function isPaid(status: Status): boolean {
	return status === 'paid';
}

/** Whether it may still be paid. */
export function isWaiting(status: Status): boolean {
	const waiting: readonly Status[] = STATUS_GROUPS.waiting;
	return waiting.includes(status);
}

/** Whether nobody paid, and nobody can pay any more. */
export function hasFailed(status: Status): boolean {
	return STATUS_GROUPS.failed.includes(String(status));
}

/** Whether it is too late to pay: nobody is to pay twice, or for what comes back. */
export function isTooLateToPay(status: Status): boolean {
	return isSettled(status) || STATUS_GROUPS.reversed.includes(String(status));
}
