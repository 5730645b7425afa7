import { CREDENTIAL_TYPE } from '../n8n/paths';
import { PACKAGE_NAME } from '../n8n/paths';
import type { N8nRest } from '../n8n/rest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import type { Editor } from './editor';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from './newcomer';
import { picture } from './pictures';

const NODE = 'Make an offer';

let newcomer: Newcomer;
let editor: Editor;
let rest: N8nRest;
const services: Sandbox[] = [];

beforeAll(async () => {
	newcomer = await startNewcomer();
	({ editor, rest } = newcomer);
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await newcomer?.stop();
	for (const service of services) await service.close();
});

const OFFER_NODE = {
	name: NODE,
	type: `${PACKAGE_NAME}.digitalSales`,
	typeVersion: 1,
	parameters: { resource: 'offer', operation: 'create' },
};
const TRIGGER_NODE = {
	name: 'A sale',
	type: `${PACKAGE_NAME}.digitalSalesTrigger`,
	typeVersion: 2,
	webhookId: '0d8c1b52-5b0e-4c43-9a53-3d1f3a5f6c01',
	parameters: { products: { items: [{}] } },
};

/** A service of its own, with a workflow whose node has its credential chosen and no product yet. */
async function workflowAt(
	options: SandboxOptions = {},
	node: object = OFFER_NODE,
): Promise<{ id: string; service: Sandbox }> {
	const service = await startSandbox(options);
	services.push(service);
	const { baseUrl, apiToken } = service;
	const { id, name } = await rest.createCredential('Account', CREDENTIAL_TYPE, {
		baseUrl,
		apiToken,
	});
	const workflow = await rest.createWorkflow({
		name: 'A list',
		nodes: [
			{
				...node,
				id: 'node',
				position: [0, 0],
				credentials: { [CREDENTIAL_TYPE]: { id, name } },
			},
		],
		connections: {},
	});
	return { id: workflow.id, service };
}

async function openList(workflowId: string): Promise<string> {
	await editor.openWorkflow(workflowId);
	const node = await editor.openNode(NODE);
	return await node.listFailure('productHash');
}

describe('A list with nothing in it says why', () => {
	it('where the account has no products', async () => {
		const { id } = await workflowAt({ products: 0 });

		const said = await openList(id);

		expect(said).toContain('This account has no products yet');
		expect(said).toContain('By Hash');
		await picture(editor.page, 'list-empty');
	});

	it('where the token has no permission', async () => {
		const { id, service } = await workflowAt();
		service.addFault({ endpoint: 'GET /products', kind: 'status', status: 403, times: 'always' });

		expect(await openList(id)).toContain('no permission');
		await picture(editor.page, 'list-forbidden');
	});

	it('where the requests of the minute are used up', async () => {
		const { id, service } = await workflowAt();
		service.addFault({
			endpoint: 'GET /products',
			kind: 'retryAfter',
			seconds: 60,
			times: 'always',
		});

		const said = await openList(id);

		expect(said).toContain('Rate limit reached. Try again in a minute.');
		expect(said).toContain('Open the list again in a minute');
		await picture(editor.page, 'list-limited');
	});
});

it('the filter of the trigger has the same list', async () => {
	const { id, service } = await workflowAt({}, TRIGGER_NODE);
	const title = service.products[0]?.title ?? '';
	await editor.openWorkflow(id);
	const node = await editor.openNode(TRIGGER_NODE.name);

	expect(await node.search('product', title)).toEqual([expect.stringContaining(title)]);
	await node.pick(title);

	expect(await node.picked('product')).toContain(title);
	await picture(editor.page, 'trigger-filter');
});
