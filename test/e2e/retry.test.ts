import sortBy from 'lodash/sortBy';
import type { Execution } from '../helpers/n8n/execution';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import { cpf } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import { cartOf, createPix, publish, split, webStart } from '../helpers/e2e/workflows';

const START_MS = 15 * 60_000;
const MAYBE = 'may already have been charged';

describe('A charge that is requested again in a real n8n', () => {
	let n8n: N8n;
	const ids = new Map<string, string>();

	beforeAll(async () => {
		n8n = await startN8n('e2e-retry', { env: WITHOUT_EDITOR });
		const charge = (more: object) =>
			createPix({ cart: cartOf(n8n.sandbox), webhooksGoTo: 'none', ...more });
		const body = { customerDocument: '={{ $json.body.document }}' };
		const document = { customerDocument: '={{ $json.document }}' };
		const decision = {
			orderOrCustomer: '={{ $json.body.about ?? "nobody" }}',
			hash: '={{ $json.body.hash ?? "" }}',
		};
		const options = { chargesInDoubt: { items: [decision] } };
		const workflows = {
			many: [split('Split', 'items'), charge(document)],
			ordered: [charge({ ...body, orderReference: '={{ $json.body.order }}', options })],
			plain: [charge({ ...body, options })],
		};
		for (const [name, nodes] of Object.entries(workflows)) {
			ids.set(name, (await publish(n8n, name, [webStart(name), ...nodes])).id);
		}
	}, START_MS);
	beforeEach(() => n8n.sandbox.reset());
	afterAll(async () => await n8n?.close());

	const post = async (name: string, body: object): Promise<void> =>
		void (await postJson(`${n8n.url}/webhook/${name}`, body));
	const startedBy = async (name: string, action: () => Promise<void>): Promise<Execution> =>
		await n8n.rest.ended(await n8n.rest.startedBy(ids.get(name) ?? '', action));
	const ask = async (name: string, body: object): Promise<Execution> =>
		await startedBy(name, async () => await post(name, body));
	const retry = async ({ summary }: Execution, loadWorkflow: boolean): Promise<Execution> =>
		await n8n.rest.ended(await n8n.rest.retry(summary.id, loadWorkflow));
	const hashes = (execution: Execution): unknown[] =>
		execution.items('Charge').map(({ json }) => json.hash);
	const charges = (): number => n8n.sandbox.charges();
	const customers = (count: number, first: number): Array<{ document: string }> =>
		Array.from({ length: count }, (_, nth) => ({ document: cpf(first + nth) }));
	/** Kills n8n while a charge is under way, and starts it again. */
	const crashDuring = async (name: string, body: object): Promise<Execution> =>
		await startedBy(name, async () => {
			const before = charges();
			const kind = 'delayAfterProcessing';
			n8n.sandbox.addFault({ endpoint: 'POST /transactions', kind, ms: 60_000 });
			await post(name, body);
			await until('the charge', () => charges() > before);
			await n8n.main.kill();
			n8n.sandbox.clearFaults();
			await n8n.startAgain();
		});

	test('is made once for each item, however often the execution is retried with the original or the saved workflow', async () => {
		const endpoint = 'POST /transactions';
		n8n.sandbox.addFault({ endpoint, kind: 'status', status: 422, after: 2 });
		const failed = await ask('many', { items: customers(3, 300_000_000) });
		expect(failed.complaint).toContain('Already created in this execution: item 0 is');
		expect(charges()).toBe(2);

		const retries: Execution[] = [];
		for (const current of [false, true, false, true]) retries.push(await retry(failed, current));

		expect(charges()).toBe(3);
		// Two charges at once may arrive in either order.
		const made = sortBy(n8n.sandbox.transactions, 'customer.document').map(({ hash }) => hash);
		for (const execution of retries) expect(hashes(execution)).toEqual(made);
	});

	test('is returned after n8n was killed; a charge in flight is refused until a person has decided; another customer is charged', async () => {
		const [first, second, third, fourth] = customers(4, 500_000_000);
		const made = await ask('ordered', { ...first, order: 'order-0' });
		await crashDuring('ordered', { ...second, order: 'order-1' });
		const [, found] = n8n.sandbox.transactions;
		const again = await ask('ordered', { ...second, order: 'order-1' });
		const renamed = await ask('ordered', { ...second, order: 'order-2' });
		expect(hashes(await ask('ordered', { ...first, order: 'order-0' }))).toEqual(hashes(made));
		expect(again.complaint).toContain(
			'Options > Charges in Doubt > Add Decision, Order or Customer order-1, Hash: its hash',
		);
		expect(renamed.complaint).toContain(MAYBE);
		expect(hashes(await ask('ordered', { ...third, order: 'order-3' }))).toHaveLength(1);
		const order = { ...second, order: 'order-1' };
		for (const decision of [{ about: 'order-1', hash: found?.hash }, {}]) {
			expect(hashes(await ask('ordered', { ...order, ...decision }))).toEqual([found?.hash]);
		}
		expect(charges()).toBe(3);

		const crashed = await crashDuring('plain', fourth ?? {});
		expect(crashed.summary.status).toBe('crashed');
		expect((await ask('plain', fourth ?? {})).complaint).toContain(MAYBE);
		expect((await retry(crashed, false)).complaint).toContain(MAYBE);
		expect(charges()).toBe(4);
	}, 240_000);

	test('that an expired charge replaced is returned after the next kill, and what is not on the platform is made by a decision, once', async () => {
		const [first, second] = customers(2, 600_000_000);
		const order = { ...first, order: 'order-5' };
		await ask('ordered', order);
		await n8n.sandbox.setStatus(n8n.sandbox.transactions[0]?.hash ?? '', 'expired');
		const restart = async (): Promise<void> => {
			await n8n.main.kill();
			await n8n.startAgain();
		};
		await restart();
		const replaced = await ask('ordered', order);
		await restart();
		expect(hashes(await ask('ordered', order))).toEqual(hashes(replaced));
		expect(charges()).toBe(2);

		n8n.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'resetBeforeProcessing' });
		expect((await ask('plain', second ?? {})).complaint).toContain(MAYBE);
		await restart();
		const decided = { ...second, about: second?.document };
		expect(hashes(await ask('plain', decided))).toHaveLength(1);
		expect(hashes(await ask('plain', { ...second }))).toHaveLength(1);
		expect(charges()).toBe(4);
	}, 240_000);
});
