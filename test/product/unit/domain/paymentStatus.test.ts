import {
	isSettled,
	isStatusGroup,
	STATUS_GROUPS,
} from '../../../../nodes/DigitalSales/domain/paymentStatus';

describe('Payment statuses', () => {
	test.each([
		'paid',
		'refused',
		'canceled',
		'cancelled',
		'expired',
		'refunded',
		'chargeback',
		'chargedback',
	])('%s ends a payment', (status) => {
		expect(isSettled(status)).toBe(true);
	});

	test.each(['waiting_payment', 'authorized', 'nobody_has_listed_it', '', null, undefined])(
		'%p may still become anything',
		(status) => {
			expect(isSettled(status)).toBe(false);
		},
	);

	test('no status stands in two groups', () => {
		const all = Object.values(STATUS_GROUPS).flat();
		expect(new Set(all).size).toBe(all.length);
	});

	test.each(['paid', 'waiting', 'failed', 'reversed'])('%s is a group', (group) => {
		expect(isStatusGroup(group)).toBe(true);
	});

	test.each(['refunded', 'any', '', 'constructor', 'toString'])('%p is no group', (text) => {
		expect(isStatusGroup(text)).toBe(false);
	});
});
