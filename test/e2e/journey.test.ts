import { z } from 'zod';
import { type Check, runJourney } from '../helpers/n8n/journey';
import { accountAt } from '../helpers/n8n/n8n';
import { setUp, type SetUp } from '../helpers/n8n/setUp';

const INSTALL_AND_START_MS = 15 * 60_000;

let ready: SetUp;

beforeAll(async () => {
	ready = await setUp('e2e');
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await ready?.n8n.close();
});

test('a catalog entry becomes an offer, a charge at its price, a payment and one verified sale', async () => {
	const checks: Check[] = [];
	await runJourney(ready, (check) => checks.push(check));

	expect(checks.filter(({ passed }) => !passed)).toEqual([]);
	expect(checks).toHaveLength(5);
	expect(ready.sandbox.transactions).toMatchObject([
		{ amount: 4990, customer: { document: '52998224725' }, payment_status: 'paid' },
	]);
});

test.each([
	['accepts the right token', {}, 'OK', /accepts the token/],
	['says that the token is wrong', { apiToken: 'wrong-token-1' }, 'Error', /\(401\)(?!.*wrong-t)/],
])('the test of the credential %s', async (_, changes, status, said) => {
	const data = { ...accountAt(ready.sandbox), ...changes };
	const schema = z.object({ status: z.string(), message: z.string() });

	const result = await ready.rest.call(schema, 'POST', '/credentials/test', {
		credentials: { ...ready.credential, data },
	});

	expect(result).toEqual({ status, message: expect.stringMatching(said) });
});
