import { postJson } from '../helpers/http';
import { enterSharedN8n, type Guest } from '../helpers/e2e/sharedN8n';
import { cartOf, chainOf, createPix, type NodeSketch, webStart } from '../helpers/e2e/workflows';

const NAMED = /Order or Customer (\S.*?), Hash: its hash/;

describe('A charge in doubt, for a person who does what its error says,', () => {
	let guest: Guest;

	beforeAll(async () => {
		guest = await enterSharedN8n();
	});
	afterEach(() => guest.sandbox.reset());
	afterAll(async () => await guest?.close());

	/** Returns a function that charges an order in a new execution, with what a person entered. */
	const publish = async (order: string, hash: object) => {
		const { rest, url, credential } = guest;
		const decision = { orderOrCustomer: '={{ $json.body.name }}', ...hash };
		const charge: NodeSketch = createPix({
			webhooksGoTo: 'none',
			cart: cartOf(guest.sandbox),
			orderReference: '={{ $json.body.order }}',
			options: { chargesInDoubt: { items: [decision] } },
		});
		const nodes: NodeSketch[] = [webStart(order), { ...charge, onError: 'continueRegularOutput' }];
		const saved = await rest.createWorkflow(chainOf(order, credential, nodes));
		await rest.publish(saved);

		return async (name = 'nobody', hash = 'none') => {
			const entered = { order, name, hash };
			const start = async () => await postJson(`${url}/webhook/${order}`, entered);
			const execution = await rest.ended(await rest.startedBy(saved.id, start));
			return execution.items('Charge')[0]?.json ?? {};
		};
	};

	test.each([
		[
			'by the hash that the platform shows',
			'resetAfterProcessing',
			'found',
			{ hash: '={{ $json.body.hash }}' },
		],
		['by an empty hash, if it is not there', 'resetBeforeProcessing', 'absent', {}],
	] as const)('ends %s, and nobody is charged twice', async (_how, kind, order, hash) => {
		const { sandbox } = guest;
		const run = await publish(order, hash);
		sandbox.addFault({ kind, endpoint: 'POST /transactions' });

		const told = JSON.stringify(await run());
		const name = NAMED.exec(told)?.[1];
		const [onPlatform] = sandbox.transactions;
		const decided = await run(name, onPlatform?.hash);
		const later = await run();

		expect(name).toBe(order);
		expect(decided.hash).toBe(sandbox.transactions[0]?.hash);
		expect(later).toMatchObject({ hash: decided.hash, already_charged: true });
		expect(sandbox.charges()).toBe(1);
	});
});
