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

	test('are refused with the warning that an earlier execution may have created the items before', async () => {
		shop.fault('loseAnswer', 2);
		const first = await loop(LIST, FROM_LOOP);
		expect(first.status).toBe('error');
		const second = await loop(LIST, FROM_LOOP);
		expect(`${second.error?.message} ${second.error?.description}`).toMatch(
			'If an earlier execution charged other items',
		);
	});
});
