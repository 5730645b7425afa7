import { ACTION, chainOf } from '../e2e/stage/workflows';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from './newcomer';

const NODE = {
	name: 'Make an offer',
	type: ACTION,
	parameters: { resource: 'offer', operation: 'create' },
};

let newcomer: Newcomer;

beforeAll(async () => {
	newcomer = await startNewcomer({ products: 0 });
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await newcomer?.stop();
});

// What else can go wrong is shown by the same list in n8n's engine (test/product/engine/listSearch.test.ts).
it('a list with nothing in it says why', async () => {
	const { editor, n8n } = newcomer;
	const workflow = chainOf('A list', await n8n.createCredential(), [NODE]);
	const { id } = await n8n.rest.createWorkflow(workflow);
	await editor.openWorkflow(id);

	const said = await (await editor.openNode(NODE.name)).listFailure('productHash');

	expect(said).toContain('This account has no products yet');
	expect(said).toContain('By Hash');
});
