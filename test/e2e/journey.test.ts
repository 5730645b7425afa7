import { z } from 'zod';
import { type Check, runJourney } from '../helpers/n8n/journey';
import { accountAt, startWithJourney } from '../helpers/n8n/n8n';

const INSTALL_AND_START_MS = 15 * 60_000;

let ready: Awaited<ReturnType<typeof startWithJourney>>;

beforeAll(async () => {
	ready = await startWithJourney('e2e');
}, INSTALL_AND_START_MS);

afterAll(async () => await ready?.n8n.close());

test('a catalog entry becomes an offer, a charge at its price, a payment and one verified sale', async () => {
	const checks: Check[] = [];
	await runJourney(ready.n8n, ready.journey, (check) => checks.push(check));

	expect(checks.filter(({ passed }) => !passed)).toEqual([]);
	expect(checks).toHaveLength(5);
	expect(ready.n8n.sandbox.transactions).toMatchObject([
		{ amount: 4990, customer: { document: '52998224725' }, payment_status: 'paid' },
	]);
});

test.each([
	['accepts the right token', {}, 'OK', /accepts the token/],
	['says that the token is wrong', { apiToken: 'wrong-token-1' }, 'Error', /\(401\)(?!.*wrong-t)/],
])('the test of the credential %s', async (_, changes, status, said) => {
	const data = { ...accountAt(ready.n8n.sandbox), ...changes };
	const schema = z.object({ status: z.string(), message: z.string() });

	const result = await ready.n8n.rest.call(schema, 'POST', '/credentials/test', {
		credentials: { ...ready.n8n.credential, data },
	});

	expect(result).toEqual({ status, message: expect.stringMatching(said) });
});
