import { setTimeout as pause } from 'node:timers/promises';
import { NODES, runJourney, triggerExecutions, type Journey } from '../n8n/journey';
import type { CredentialTest } from '../n8n/rest';
import { setUp, type SetUp } from '../n8n/setUp';
import { ACTION, chainOf } from './stage/workflows';

const INSTALL_AND_START_MS = 15 * 60_000;
// Long enough for an execution that must not start to show in the list.
const SETTLE_MS = 1_500;

let ready: SetUp;
let journey: Journey;
let notificationUrl: string;

beforeAll(async () => {
	ready = await setUp('e2e');
	notificationUrl = ready.journey.notificationUrl;
	journey = await runJourney(ready);
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await ready?.n8n.close();
});

async function countSales(): Promise<number> {
	return (await triggerExecutions(ready, ready.journey.workflow.id)).length;
}

async function post(body: string | undefined, type = 'application/json'): Promise<number> {
	const response = await fetch(notificationUrl, {
		method: 'POST',
		...(body === undefined ? {} : { headers: { 'content-type': type }, body }),
		signal: AbortSignal.timeout(15_000),
	});
	await response.text();
	return response.status;
}

describe('from the catalog to a verified sale', () => {
	it('lists every product within the request limit', () => {
		expect(journey.products.listed).toBe(ready.sandbox.products.length);
		expect(journey.products.requests).toBeGreaterThan(0);
		expect(journey.products.requests).toBeLessThanOrEqual(20);
	});

	it('creates the offer at its price', () => {
		const made = ready.sandbox.offers.find(({ offer }) => offer.hash === journey.offer.hash);
		expect(made?.product_hash).toBe(ready.sandbox.products[0]?.hash);
		expect(made?.offer.price).toBe(4990);
		expect(journey.offer.price_reais).toBe(49.9);
	});

	it('charges the customer once, and has the notices sent to the trigger of the workflow', () => {
		const [charge, ...others] = ready.sandbox.transactions.filter(
			({ hash }) => hash === journey.charge.hash,
		);
		expect(others).toHaveLength(0);
		expect(charge?.amount).toBe(4990);
		expect(charge?.customer.document).toBe('52998224725');
		expect(charge?.postback_url).toBe(notificationUrl);
		expect(journey.charge.payment_status).toBe('waiting_payment');
	});

	it('answers the notice of the payment, having read the transaction back', () => {
		expect(journey.payment.answered).toBe(200);
		expect(journey.payment.readBacks).toBeGreaterThan(0);
	});

	it('runs the workflow once, with the paid transaction', () => {
		expect(journey.sale.executions).toBe(1);
		expect(journey.sale.transaction).toMatchObject({
			hash: journey.charge.hash,
			amount_reais: 49.9,
			payment_status: 'paid',
		});
	});

	it('answers a repeated notice without running the workflow again', async () => {
		const before = await countSales();
		const delivery = await ready.sandbox.notify(journey.charge.hash);
		await pause(SETTLE_MS);
		expect(delivery.status).toBe(200);
		expect(await countSales()).toBe(before);
	});
});

describe('an item that fails with On Error: Continue (using error output)', () => {
	it('leaves by the error output, and says there what came of it', async () => {
		const noOp = { type: 'n8n-nodes-base.noOp' };
		const workflow = chainOf('errors', ready.credential, [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{
				name: 'Get',
				type: ACTION,
				parameters: { resource: 'transaction', operation: 'get', transactionHash: 'nobody1' },
				onError: 'continueErrorOutput',
			},
			{ name: 'Found', ...noOp },
			{ name: 'Failed', ...noOp },
		]);
		const to = (node: string) => [{ node, type: 'main', index: 0 }];
		workflow.connections = {
			Start: { main: [to('Get')] },
			Get: { main: [to('Found'), to('Failed')] },
		};
		const { id } = await ready.rest.createWorkflow(workflow);

		const execution = await ready.rest.run(id, 'Start');

		expect(execution.items('Found')).toEqual([]);
		expect(execution.items('Failed').map(({ json }) => json)).toMatchObject([
			{ error: { status: 404, outcome: 'refused', about: 'transaction nobody1' } },
		]);
	});
});

describe('a notice that is not a payment', () => {
	const refused = [
		{ name: 'is empty', body: undefined, status: 400 },
		{ name: 'is not JSON', body: '{"hash":', status: 422 },
		{ name: 'is a text', body: 'paid', type: 'text/plain', status: 400 },
		{ name: 'names no transaction', body: '{"status":"paid"}', status: 400 },
		{ name: 'is for an unknown hash', body: '{"hash":"nobody1","status":"paid"}', status: 404 },
	];

	it.each(refused)('is answered and starts nothing where it $name', async (notice) => {
		const before = await countSales();
		expect(await post(notice.body, notice.type)).toBe(notice.status);
		await pause(SETTLE_MS);
		expect(await countSales()).toBe(before);
	});

	it('starts nothing where it claims "paid" of a charge that is not', async () => {
		const before = await countSales();
		const execution = await ready.rest.run(ready.journey.workflow.id, NODES.start);
		const [charge] = execution.items(NODES.charge);
		const claim = JSON.stringify({ hash: charge?.json.hash, status: 'paid' });
		expect(await post(claim)).toBe(503);
		await pause(SETTLE_MS);
		expect(await countSales()).toBe(before);
	});
});

describe('the test of the credential', () => {
	async function testWith(changes: Record<string, string>): Promise<CredentialTest> {
		const data = { ...ready.credentialData, ...changes };
		return await ready.rest.testCredential(ready.credential, data);
	}

	it('accepts the right one', async () => {
		expect(await testWith({})).toMatchObject({ status: 'OK' });
	});

	it('says that the token is wrong', async () => {
		const { status, message } = await testWith({ apiToken: 'wrong-token-1' });
		expect(status).toBe('Error');
		expect(message).toMatch(/does not accept the API token \(401\)/);
		expect(message).not.toContain('wrong-token-1');
	});
});
