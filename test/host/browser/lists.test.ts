import { ACTION, chainOf, type NodeSketch, trigger } from '../e2e/stage/workflows';
import { CREDENTIAL_TYPE } from '../n8n/paths';
import type { N8nRest } from '../n8n/rest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import type { Editor } from './editor';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from './newcomer';

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

const OFFER_NODE: NodeSketch = {
	name: NODE,
	type: ACTION,
	parameters: { resource: 'offer', operation: 'create' },
};

/** A service of its own, with a workflow whose node has its credential chosen and no product yet. */
async function workflowAt(
	options: SandboxOptions = {},
	node = OFFER_NODE,
): Promise<{ id: string; service: Sandbox }> {
	const service = await startSandbox(options);
	services.push(service);
	const { baseUrl, apiToken } = service;
	const account = { baseUrl, apiToken };
	const credential = await rest.createCredential('Account', CREDENTIAL_TYPE, account);
	const workflow = await rest.createWorkflow(chainOf('A list', credential, [node]));
	return { id: workflow.id, service };
}

// What else can go wrong is shown by the same list in n8n's engine (test/product/engine/listSearch.test.ts).
it('a list with nothing in it says why', async () => {
	const { id } = await workflowAt({ products: 0 });
	await editor.openWorkflow(id);

	const said = await (await editor.openNode(NODE)).listFailure('productHash');

	expect(said).toContain('This account has no products yet');
	expect(said).toContain('By Hash');
});

it('the filter of the trigger has the same list', async () => {
	const { id, service } = await workflowAt({}, trigger('sale', { products: { items: [{}] } }));
	const title = service.products[0]?.title ?? '';
	await editor.openWorkflow(id);
	const node = await editor.openNode('Trigger');

	expect(await node.search('product', title)).toEqual([expect.stringContaining(title)]);
	await node.pick(title);

	expect(await node.picked('product')).toContain(title);
});
