import { readAccount } from '../../../../nodes/DigitalSales/api/account';
import {
	hasSeenTransaction,
	markTransactionSeen,
} from '../../../../nodes/DigitalSales/api/transactions';

describe('The transactions that an account is known to have', () => {
	const account = (apiToken: string) =>
		readAccount({ baseUrl: 'https://api.example.com/v1', apiToken });
	const [one, other] = [account('test-token-one'), account('test-token-other')];

	test('are those that were remembered', () => {
		markTransactionSeen(one, 'ab12');

		expect(hasSeenTransaction(one, 'ab12')).toBe(true);
		expect(hasSeenTransaction(one, 'AB12')).toBe(false);
	});

	test('are no other account’s', () => {
		markTransactionSeen(one, 'ef56');

		expect(hasSeenTransaction(other, 'ef56')).toBe(false);
	});

	test('are ten thousand at most, those that were seen last', () => {
		for (let nth = 0; nth < 10_000; nth++) markTransactionSeen(one, `${nth}`);
		markTransactionSeen(one, '0');

		markTransactionSeen(other, 'new');

		expect(hasSeenTransaction(other, 'new')).toBe(true);
		expect(hasSeenTransaction(one, '1')).toBe(false);
		expect(hasSeenTransaction(one, '2000')).toBe(true);
		expect(hasSeenTransaction(one, '0')).toBe(true);
	});
});
