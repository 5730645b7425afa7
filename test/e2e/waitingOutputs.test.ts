import { chargeAt } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import type { Execution } from '../helpers/n8n/execution';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import {
	chainOf,
	createPix,
	cartOf,
	END,
	waitForPayment,
	webStart,
} from '../helpers/e2e/workflows';

const START_MS = 15 * 60_000;
const BRANCHES = { paid: 'Delivered', notPaid: 'Not delivered' };

/** n8n passes on the input of a node that it skips by the first output. */
describe('The outputs of Wait for Payment', () => {
	let n8n: N8n;
	const ids = new Map<string, string>();

	beforeAll(async () => {
		n8n = await startN8n('e2e-outputs', { env: WITHOUT_EDITOR });
		const charge = createPix({ cart: cartOf(n8n.sandbox), webhooksGoTo: 'automatic' });
		const wait = waitForPayment();
		await publish('given', [webStart('given'), { ...wait, parameters: byHash(wait.parameters) }]);
		await publish('charged', [webStart('charged'), charge, wait]);
		await publish('off', [webStart('off'), charge, { ...wait, disabled: true }]);
	}, START_MS);
	afterAll(async () => await n8n?.close());

	const byHash = (parameters: object = {}) => ({
		...parameters,
		transactionHash: '={{ $json.body.hash }}',
	});
	const publish = async (name: string, chain: Parameters<typeof chainOf>[2]): Promise<void> => {
		const branches = Object.values(BRANCHES).map((branch) => [{ ...END, name: branch }]);
		const file = chainOf(name, n8n.credential, chain, ...branches);
		const leadTo = (node: string) => [{ node, type: 'main', index: 0 }];
		file.connections.Wait = { main: [leadTo(BRANCHES.notPaid), leadTo(BRANCHES.paid)] };
		const saved = await n8n.rest.createWorkflow(file);
		await n8n.rest.publish(saved);
		ids.set(name, saved.id);
	};
	const start = async (name: string, body: object): Promise<string> =>
		await n8n.rest.startedBy(ids.get(name) ?? '', async () => {
			await postJson(`${n8n.url}/webhook/${name}`, body);
		});
	const branchesOf = (execution: Execution): string[] =>
		Object.values(BRANCHES).filter((name) => execution.runs(name) > 0);
	const isStatus = async (id: string, status: string): Promise<void> =>
		void (await until(`execution ${id} is ${status}`, async () => {
			return (await n8n.rest.status(id)) === status;
		}));

	test.each([
		['paid', [BRANCHES.paid]],
		['expired', [BRANCHES.notPaid]],
	])('a charge that is %s runs only its branch', async (status, branches) => {
		const hash = await chargeAt(n8n.sandbox);
		await n8n.sandbox.setStatus(hash, status);

		expect(branchesOf(await n8n.rest.ended(await start('given', { hash })))).toEqual(branches);
	});

	test('a deactivated node leads only to Not Paid', async () => {
		expect(branchesOf(await n8n.rest.ended(await start('off', {})))).toEqual([BRANCHES.notPaid]);
	});

	test('a charge that is paid while the execution waits runs only its branch', async () => {
		const id = await start('charged', {});
		await isStatus(id, 'waiting');
		const { hash = '' } = n8n.sandbox.transactions.at(-1) ?? {};

		const [report] = await n8n.sandbox.pay(hash);

		expect(report?.status).toBe(200);
		expect(branchesOf(await n8n.rest.ended(id))).toEqual([BRANCHES.paid]);
	});

	test('a crashed wait that is retried runs only the branch of Paid', async () => {
		const id = await start('charged', {});
		await isStatus(id, 'waiting');
		const { hash = '', postback_url: url = '' } = n8n.sandbox.transactions.at(-1) ?? {};
		n8n.sandbox.addFault({ endpoint: 'GET /transactions/{hash}', kind: 'delay', ms: 60_000 });
		await postJson(url, { hash, payment_status: 'paid' });
		await isStatus(id, 'running');
		await n8n.main.kill();
		n8n.sandbox.clearFaults();
		await n8n.startAgain();
		await isStatus(id, 'crashed');
		await n8n.sandbox.setStatus(hash, 'paid');

		// Soon after a start, a look takes longer than n8n's answer may take.
		const retry = (): void => void n8n.rest.retry(id, false).catch(() => undefined);
		const retryId = await n8n.rest.startedBy(ids.get('charged') ?? '', async () => retry());

		expect(branchesOf(await n8n.rest.ended(retryId))).toEqual([BRANCHES.paid]);
	}, 600_000);
});
