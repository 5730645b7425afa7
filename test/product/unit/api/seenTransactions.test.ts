import { readAccount } from '../../../../nodes/DigitalSales/api/account';
import {
	isKnownTransaction,
	rememberTransaction,
} from '../../../../nodes/DigitalSales/api/transactions';

describe('The transactions that an account is known to have', () => {
	const account = (apiToken: string) =>
		readAccount({ baseUrl: 'https://api.example.com/v1', apiToken });
	const [one, other] = [account('test-token-one'), account('test-token-other')];

	test('are those that were remembered', () => {
		rememberTransaction(one, 'ab12');

		expect(isKnownTransaction(one, 'ab12')).toBe(true);
		expect(isKnownTransaction(one, 'AB12')).toBe(false);
	});

	test('are no other account’s', () => {
		rememberTransaction(one, 'ef56');

		expect(isKnownTransaction(other, 'ef56')).toBe(false);
	});

	test('are ten thousand at most, those that were seen last', () => {
		for (let nth = 0; nth < 10_000; nth++) rememberTransaction(one, `${nth}`);
		rememberTransaction(one, '0');
		expect(isKnownTransaction(one, '1')).toBe(true);

		rememberTransaction(other, 'new');

		expect(isKnownTransaction(other, 'new')).toBe(true);
		expect(isKnownTransaction(one, '1')).toBe(false);
		expect(isKnownTransaction(one, '2')).toBe(true);
		expect(isKnownTransaction(one, '0')).toBe(true);
	});
});
