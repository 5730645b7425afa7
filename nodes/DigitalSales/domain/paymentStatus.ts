/** Only `waiting_payment` and `paid` are documented. The other statuses are guesses. */
export const STATUS_GROUPS = {
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
} satisfies Record<string, string[]>;

export type StatusGroup = keyof typeof STATUS_GROUPS;

export function isStatusGroup(text: string): text is StatusGroup {
	return Object.hasOwn(STATUS_GROUPS, text);
}

export type Status = string | null | undefined;

/** Nothing documents that the platform writes a status in lower case. */
function inLowerCase(status: Status): string {
	return (status ?? '').toLowerCase();
}

export function isSameStatus(one: Status, other: Status): boolean {
	return inLowerCase(one) === inLowerCase(other);
}

/** A wait ends with these statuses. Any other status may still become settled. */
const SETTLED: ReadonlySet<string> = new Set([
	...['paid', 'refunded', 'chargeback', 'chargedback'],
	...STATUS_GROUPS.failed,
]);

export function isSettled(status: Status): boolean {
	return SETTLED.has(inLowerCase(status));
}

/** The platform may still report an expired or refused payment as paid. */
const FOLLOWING: Readonly<Record<StatusGroup, readonly StatusGroup[]>> = {
	waiting: ['failed', 'paid', 'reversed'],
	failed: ['paid'],
	paid: ['reversed'],
	reversed: [],
};

export function groupOf(status: Status): StatusGroup | undefined {
	const groups = Object.keys(STATUS_GROUPS).filter(isStatusGroup);
	return groups.find((group) => STATUS_GROUPS[group].includes(inLowerCase(status)));
}

export function isLater(status: Status, than: Status): boolean {
	const [group, before] = [groupOf(status), groupOf(than)];
	if (!group || !before) return false;
	if (group === before) return isSettled(status) && !isSettled(than);
	return FOLLOWING[before].includes(group);
}

/** `authorized` is not paid. */
export function isPaid(status: Status): boolean {
	return inLowerCase(status) === 'paid';
}

export function hasFailed(status: Status): boolean {
	return groupOf(status) === 'failed';
}

/** Nobody may pay twice, or pay for a sale that failed or was refunded. */
export function isTooLateToPay(status: Status): boolean {
	return isSettled(status) || groupOf(status) === 'reversed';
}
