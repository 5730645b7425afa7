import { CredentialError, readAccount } from '../../../nodes/DigitalSales/api/account';

const CREDENTIAL = { baseUrl: 'https://api.example.com/v1', apiToken: 'test-api-token' };

/** Reads a credential without the undefined fields. */
const read = (changes: Record<string, string | boolean | undefined> = {}) => {
	const fields = Object.entries({ ...CREDENTIAL, platformDiffers: true, ...changes });
	return readAccount(
		Object.fromEntries(
			fields.filter((field): field is [string, string | boolean] => field[1] !== undefined),
		),
	);
};

describe('The account of a credential', () => {
	test('trims blanks that were pasted along', () => {
		const account = read({
			baseUrl: ' https://api.example.com/v1/ ',
			bodyApiToken: ' test-body-token\n',
			notificationUrl: ' https://n8n.example.com/hook ',
		});

		expect(account).toMatchObject({
			baseUrl: 'https://api.example.com/v1',
			bodyApiToken: 'test-body-token',
			notificationUrl: 'https://n8n.example.com/hook',
		});
		expect(() => read({ apiToken: ' ' })).toThrow(CredentialError);
	});

	test.each([undefined, '', ' '])(
		'sends the API token in the body if the second token is %j',
		(blank) => {
			expect(read({ bodyApiToken: blank, notificationUrl: blank })).toMatchObject({
				bodyApiToken: 'test-api-token',
				notificationUrl: undefined,
			});
		},
	);

	test('ignores what My Platform Differs hides', () => {
		const hidden = { bodyApiToken: 'test-body-token', notificationField: 'postback_url' };

		for (const platformDiffers of [false, undefined]) {
			expect(read({ ...hidden, platformDiffers })).toMatchObject({
				bodyApiToken: 'test-api-token',
				notificationField: undefined,
			});
		}
	});

	test('has a key that depends on address and token, and reveals no token', () => {
		const { key } = read({ bodyApiToken: 'test-body-token' });

		expect(read({ baseUrl: 'api.example.com/v1/', apiToken: ' test-api-token ' }).key).toBe(key);
		expect(read({ apiToken: 'test-other-token' }).key).not.toBe(key);
		expect(read({ baseUrl: 'https://api.example.com/v2' }).key).not.toBe(key);
		expect(key).not.toContain('token');
	});

	test('removes the word Bearer before a token', () => {
		const account = read({ apiToken: 'Bearer  test-api-token', bodyApiToken: 'bearer test-body' });

		expect(account).toMatchObject({ bodyApiToken: 'test-body', key: read().key });
		expect(account.credential.apiToken).toBe('test-api-token');
		expect(() => read({ apiToken: 'Bearer ' })).toThrow(CredentialError);
	});

	test.each(['\u200b', '\u2060', '\u202c', '\ufeff', '\u00ad', '\u0000', '\n', '\u{e0001}'])(
		'ignores invisible characters around a token: %j',
		(unseen) => {
			const account = read({ apiToken: `${unseen}test-api-token${unseen}` });

			expect(account.bodyApiToken).toBe('test-api-token');
			expect(account.credential.apiToken).toBe('test-api-token');
			expect(account.key).toBe(read().key);
			expect(account.redact.text('a test-api-token')).toBe('a [token removed]');
		},
	);

	test.each([{ apiToken: 'test token' }, { bodyApiToken: 'test-tokén' }, { apiToken: 'a\u2011b' }])(
		'refuses a token that a header cannot carry: %j',
		(changes) => {
			expect(() => read(changes)).toThrow(/^A token in the credential contains/);
		},
	);

	test.each(['baseUrl', 'apiToken', 'bodyApiToken', 'notificationField', 'notificationUrl'])(
		'is refused if %s is no text, or of a megabyte',
		(name) => {
			for (const given of [true, 'a'.repeat(1_000_000)]) {
				expect(() => read({ [name]: given })).toThrow(/^A field of the credential is not text/);
			}
		},
	);

	test('is refused if My Platform Differs is neither on nor off', () => {
		expect(() => read({ platformDiffers: 'true' })).toThrow(CredentialError);
	});

	test.each([
		['all', 'other.example.com', undefined],
		['all', undefined, undefined],
		[undefined, 'other.example.com', undefined],
		['domains', ' api.example.com ', 'api.example.com'],
		['domains', 'other.example.com, *.example.com', 'other.example.com, *.example.com'],
	])('is accepted with the domain setting %j and the list %j', (setting, list, expected) => {
		const account = read({ allowedHttpRequestDomains: setting, allowedDomains: list });

		expect(account.allowedDomains).toBe(expected);
	});

	test.each([undefined, '', ' ', 'other.example.com'])(
		'is refused if only certain domains are allowed, namely %j',
		(list) => {
			const changes = { allowedHttpRequestDomains: 'domains', allowedDomains: list };

			expect(() => read(changes)).toThrow(/^Allowed Domains in the credential does not include/);
		},
	);
});
