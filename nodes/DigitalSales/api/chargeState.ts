/**
 * What is known of a charge that was begun: made, with its hash; being sent right now; or in doubt,
 * because no usable answer came back.
 */
export type ChargeState =
	| { state: 'made'; hash: string }
	| { state: 'underWay' }
	| { state: 'inDoubt'; since: string };
