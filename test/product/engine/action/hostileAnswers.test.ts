import type { IDataObject, INodeParameters } from 'n8n-workflow';
import * as errorWords from '../../../../nodes/DigitalSales/api/schemas/error';
import * as resource from '../../../../nodes/DigitalSales/api/schemas/resource';
import { HOSTILE_BODIES } from '../../../support/hostileBodies';
import { everythingIn } from '../harness';
import { openAccount, pixParameters, type Account } from '../support/account';

/** Where JavaScript makes a text of it, it throws. */
const NO_TEXT = { toString: 1 };
const LISTS = HOSTILE_BODIES['20,000 lists'];
const BODIES = Object.entries(HOSTILE_BODIES);
/** A long answer must not become a long error: n8n stores it with the execution. */
const LONGEST_ERROR = 20_000;

describe('An answer that is made to make the node fail', () => {
	let account: Account;
	let charge: INodeParameters;

	beforeAll(async () => {
		account = await openAccount();
		charge = pixParameters(account.sandbox, { orderReference: 'order-1' });
	});
	beforeEach(() => account.reset());
	afterEach(() => jest.restoreAllMocks());
	afterAll(async () => await account.sandbox.close());

	const reading = {
		resource: 'transaction',
		operation: 'get',
		transactionHash: 'ab12',
		simplify: false,
	};
	const answer = (status: number, body: string): void =>
		account.sandbox.addFault({ kind: 'status', status, body, processed: true });
	const unknown = /^The charge may exist/;

	test.each<[string, IDataObject]>([
		['the hash of an offer', { offer: { hash: NO_TEXT } }],
		['the hash of a product', { product: { hash: NO_TEXT } }],
		['a phone number', { customer: { phone_number: NO_TEXT } }],
		['a document', { customer: { document: NO_TEXT } }],
	])('%s that cannot be made a text fails no charge', async (_name, fields) => {
		answer(200, JSON.stringify({ hash: 'made1', payment_status: 'paid', ...fields }));

		const { json } = await account.run({ ...charge, simplify: true });

		expect(json).toMatchObject([{ hash: 'made1', customer_phone: null }]);
	});

	test.each(BODIES)(
		'%s under 500: the outcome is unknown, and said shortly',
		async (_name, body) => {
			answer(500, body);

			const { message, kept } = await account.fail(charge);

			expect(message).toMatch(unknown);
			expect(message).toContain('(500)');
			expect(kept.length).toBeLessThan(LONGEST_ERROR);
			expect(account.sandbox.charges()).toBe(1);
		},
	);

	test.each(BODIES)('%s under 422: a refusal', async (_name, body) => {
		answer(422, body);

		const { message, kept } = await account.fail(charge);

		expect(message).toBe('The service did not accept the request (422)');
		expect(kept.length).toBeLessThan(LONGEST_ERROR);
	});

	test('names such fields as the service does', async () => {
		answer(422, HOSTILE_BODIES['fields named like built-ins']);

		const { description } = await account.fail(charge);

		expect(description).toContain('constructor: A | __proto__: B | toString.valueOf: C.');
	});

	test('a transaction with lists in lists is not taken for one, and not charged again', async () => {
		answer(201, `{"hash":"ab12","payment_status":"paid","x":${LISTS}}`);

		const { message } = await account.fail(charge);

		expect(message).toMatch(unknown);
		expect(account.sandbox.charges()).toBe(1);
	});

	test.each([
		[422, /^The service did not accept the request/],
		[500, unknown],
	])(
		'brackets of 3 MB under %i are not parsed, and mean what the status says',
		async (status, said) => {
			answer(status, '['.repeat(3_000_000));
			const parse = jest.spyOn(JSON, 'parse');

			const { message } = await account.fail(charge);

			expect(message).toMatch(said);
			const longest = Math.max(...parse.mock.calls.map(([text]) => text.length));
			expect(longest).toBeLessThan(1_000_000);
			expect(account.sandbox.charges()).toBe(1);
		},
	);

	test('a read of one says why it fails, and what to do', async () => {
		answer(200, `{"hash":"ab12","x":${LISTS}}`);

		const { message, description } = await account.fail(reading);

		expect(message).toBe('The answer of the service is nested too deeply to read');
		expect(description).toContain(
			'Its data is more than 64 levels deep. Check Base URL in the credential.',
		);
	});

	test.each([
		['words', () => jest.spyOn(errorWords, 'readServiceWords')],
		['transaction', () => jest.spyOn(resource, 'readResource')],
	])(
		'a fault of the package itself in reading the %s is an unknown outcome',
		async (_name, spy) => {
			spy().mockImplementation(() => {
				throw new RangeError('Maximum call stack size exceeded');
			});

			const { message } = await account.fail(charge);

			expect(message).toMatch(unknown);
			expect(account.sandbox.charges()).toBe(1);
		},
	);

	test.each<[string, (token: string) => string]>([
		['signs as \\u00xx', (token) => token.replace(/[^a-z\d]/g, (sign) => `\\u00${hexOf(sign)}`)],
		['a letter as \\u00xx', (token) => token.replace('t', '\\u0074')],
		['every byte as %xx', (token) => token.replace(/./g, (sign) => `%${hexOf(sign)}`)],
		['HTML', (token) => token.replace(/[^a-z\d]/g, (sign) => `&#x${hexOf(sign)};`)],
		['JSON in JSON', (token) => JSON.stringify(JSON.stringify(`"${token}"`)).slice(1, -1)],
	])('tokens in %s reach neither items nor errors', async (_name, write) => {
		const tokens = [account.sandbox.apiToken, account.sandbox.bodyApiToken];
		const shown = tokens.map(write).join(' and ');
		const removed = /\[token removed\].* and .*\[token removed\]/;
		answer(422, `{"message":"${shown}","errors":{"${shown}":["${shown}"]}}`);
		answer(200, `{"hash":"ab12","note":"${shown}","${shown}":1}`);

		const { kept } = await account.fail(reading);
		const outcome = await account.run(reading);

		for (const text of [kept, everythingIn(outcome)]) {
			expect(text).toMatch(removed);
			expect(text).not.toMatch(/u0074|%74|&#x2d|u002d|est-(api|body)-token/i);
		}
	});
});

function hexOf(sign: string): string {
	return (sign.codePointAt(0) ?? 0).toString(16);
}
