/**
 * Payment statuses in groups that mean something to a person. Only `waiting_payment` and `paid` are
 * documented; the others were seen in services with this API. The set is open: a value that stands
 * in no group still passes through, it just belongs to none.
 */
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
} as const satisfies Record<string, readonly string[]>;

export type StatusGroup = keyof typeof STATUS_GROUPS;

/** Whether a text names a group of statuses. */
export function isStatusGroup(text: string): text is StatusGroup {
	return text in STATUS_GROUPS;
}
