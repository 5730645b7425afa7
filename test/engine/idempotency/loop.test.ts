import type {
	IDataObject,
	INodeExecutionData,
	INodeParameters,
	IRunExecutionData,
} from 'n8n-workflow';
import { ACTION_TYPE, connect, runWorkflow, START_TYPE, testDouble } from '../../helpers/engine';
import { customers, useShop } from '../../helpers/charging';

describe('Charges in a loop', () => {
	const shop = useShop();
	const LIST = customers(3);

	/** Loop Over Items with a batch size of one, as n8n's context keeps its place for a Retry. */
	const loop = async (
		list: IDataObject[],
		more: INodeParameters,
		retryOf?: IRunExecutionData,
		settings: { onError?: 'continueRegularOutput' } = {},
	) => {
		const next = testDouble(async function () {
			const place = this.getContext('node') as { items?: IDataObject[]; at?: number };
			if (place.items === undefined) {
				place.items = this.getInputData().map(({ json }) => json);
				place.at = 0;
			}
			const at = place.at ?? 0;
			place.at = at + 1;
			const given: INodeExecutionData[] = place.items
				.slice(at, at + 1)
				.map((json) => ({ json, pairedItem: { item: 0 } }));
			return [given];
		});
		return await runWorkflow({
			id: shop.workflowId,
			credentials: shop.account.credentials,
			mode: 'trigger',
			startItems: list,
			retryOf,
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Loop', type: 'test.next' },
				{
					name: 'PIX',
					type: ACTION_TYPE,
					parameters: shop.parameters(undefined, more),
					...settings,
				},
			],
			nodeTypes: { 'test.next': next },
			connections: connect({ Start: 'Loop', Loop: 'PIX', PIX: 'Loop' }),
		});
	};
	const FROM_LOOP = {
		customerName: '={{ "Customer " + $("Loop").last().json.n }}',
		customerDocument: '={{ $("Loop").last().json.document }}',
	};

	test('are not all made at another amount: the error says to accept it in a new execution, because in the loop all would get it', async () => {
		shop.fault('loseAnswer', 0);
		const first = await loop(LIST, FROM_LOOP);
		expect([first.status, shop.charges]).toEqual(['error', 1]);
		const made = shop.account.sandbox.transactions[0];
		if (made) Reflect.set(made, 'amount', 2_000);
		const hash = { options: { repeatCode: shop.hashes[0] ?? '' } };
		const told = await loop(LIST, { ...FROM_LOOP, ...hash }, first.run.data);
		const text = `${told.error?.message} ${told.error?.description}`;
		expect(text).toMatch(/Amount in Reais to 20,00 in a new execution with this item alone, then/);
	});

	test('take no hash whose customer cannot be compared, because another customer may be in doubt, too', async () => {
		const onError = { onError: 'continueRegularOutput' } as const;
		shop.fault('loseRequest', 0);
		shop.fault('loseAnswer', 0);
		await loop(LIST.slice(0, 2), FROM_LOOP, undefined, onError);
		expect(shop.charges).toBe(1);
		const madeFor = shop.account.sandbox.transactions[0]?.customer.document;
		expect(madeFor).toBe(LIST[1]?.document.replace(/\D/g, ''));
		shop.account.fault('read', { kind: 'patchBody', set: { customer: null } }, 'always');
		const hash = { options: { repeatCode: shop.hashes[0] ?? '' } };
		const again = await loop(LIST.slice(0, 2), { ...FROM_LOOP, ...hash }, undefined, onError);
		const runs = again.run.data.resultData.runData.PIX ?? [];
		const given = runs.map(({ data }) => data?.main?.[0]?.[0]?.json.hash);
		expect(given[0]).toBeUndefined();
	});

	test('are refused with the warning that an earlier execution may have created the items before', async () => {
		shop.fault('loseAnswer', 2);
		const first = await loop(LIST, FROM_LOOP);
		expect(first.status).toBe('error');
		const second = await loop(LIST, FROM_LOOP);
		expect(`${second.error?.message} ${second.error?.description}`).toMatch(
			'If an earlier execution created other items',
		);
	});
});
