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
	failed: ['refused', 'canceled', 'cancelled', 'expired'],
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
type Status = string | null | undefined;

/** The statuses that end a payment; every other value may still become one of these. */
const SETTLED: ReadonlySet<Status> = new Set([
	...['paid', 'refunded', 'chargeback', 'chargedback'],
	...STATUS_GROUPS.failed,
]);

/** Whether a payment with this status is decided. */
export function isSettled(status: Status): boolean {
	return SETTLED.has(status);
}

/**
 * Whether a read is older than the settled status that a notice claims: a read may lag behind. One that
 * had expired or was refused may be paid all the same.
 */
export function isBehind(read: Status, claimed: Status): boolean {
	const isReversed = (status: Status): boolean => STATUS_GROUPS.reversed.includes(String(status));
	if (!isSettled(claimed) || isReversed(read)) return false;
	if (isPaid(read)) return isReversed(claimed);
	return !hasFailed(read) || isPaid(claimed);
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
