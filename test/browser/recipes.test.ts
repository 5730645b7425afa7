import { recipeOf, RECIPES } from '../../examples/source';
import { LANGUAGES, render, type PlacedNode } from '../../examples/source/workflow';
import { CREDENTIAL_TYPE } from '../helpers/n8n/paths';
import type { N8nRest, SavedCredential } from '../helpers/n8n/rest';
import type { Editor } from '../helpers/browser/editor';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from '../helpers/browser/newcomer';
import { EXAMPLES, picture } from '../helpers/browser/pictures';

let newcomer: Newcomer;
let editor: Editor;
let rest: N8nRest;

beforeAll(async () => {
	newcomer = await startNewcomer();
	({ editor } = newcomer);
	({ rest } = newcomer.n8n);
	saved.set(CREDENTIAL_TYPE, newcomer.n8n.createCredential());
}, INSTALL_AND_START_MS);

afterAll(async () => await newcomer?.stop());

const RECIPES_IN_EACH = LANGUAGES.flatMap((language) =>
	Object.entries(RECIPES).map(([name, recipe]) => ({
		name,
		language,
		workflow: render(recipe, name, language),
	})),
);

/** The nodes with a credential of each type that they may need. */
async function chosen(nodes: PlacedNode[]) {
	const types = await rest.nodeTypes();
	return await Promise.all(
		nodes.map(async (node) => {
			const type = types.find(
				({ name, version }) => name === node.type && [version].flat().includes(node.typeVersion),
			);
			const asked = (type?.credentials ?? []).map(({ name }) => name);
			const { genericAuthType, nodeCredentialType } = node.parameters;
			const named = [genericAuthType, nodeCredentialType].filter(
				(name) => typeof name === 'string',
			);
			const saved = await Promise.all(
				[...asked, ...named].map(async (name) => [name, await credentialFor(name)]),
			);
			return { ...node, credentials: Object.fromEntries(saved) };
		}),
	);
}

const saved = new Map<string, Promise<SavedCredential>>();

async function credentialFor(type: string): Promise<SavedCredential> {
	const made = saved.get(type) ?? rest.createCredential(type, type, {});
	saved.set(type, made);
	return await made;
}

/** The nodes of a recipe with a missing choice. */
function toChoose(nodes: PlacedNode[]): string[] {
	const isOpen = ({ type, parameters }: PlacedNode): boolean =>
		!type.endsWith('.stickyNote') &&
		/"(fromEmail|toEmail|chatId|phoneNumberId)":""|"(offerHash|product|documentId)":\{[^}]*"value":""/.test(
			JSON.stringify(parameters),
		);
	return nodes.filter((node) => isOpen(node) && !node.disabled).map(({ name }) => name);
}

it.each(RECIPES_IN_EACH)(
	'the editor marks only the missing choices of $name ($language), and does not publish it before',
	async ({ name, language, workflow }) => {
		const { id } = await rest.createWorkflow({ ...workflow, nodes: await chosen(workflow.nodes) });

		await editor.openWorkflow(id);

		const open = toChoose(workflow.nodes).sort();
		expect((await editor.nodesWithIssues()).sort()).toEqual(open);
		const isStartedByHand = workflow.nodes.some(({ type }) => type.endsWith('.manualTrigger'));
		expect(await editor.mayPublish()).toBe(open.length === 0 && !isStartedByHand);
		await picture(editor.page, `${EXAMPLES}${language}/${name}`, await editor.workflowArea());
	},
);

it.each(['sell-and-deliver', 'access-by-http'])(
	'the editor does not publish %s while its trigger has no product, which a list offers',
	async (name) => {
		const workflow = render(recipeOf(name), name, 'en');
		const nodes = await chosen(workflow.nodes);
		const saved = await rest.createWorkflow({ ...workflow, nodes });
		const trigger = saved.nodes.find(({ type }) => type.endsWith('.digitalSalesTrigger'));

		await editor.openWorkflow(saved.id);

		expect(await editor.mayPublish()).toBe(false);
		const { origin } = new URL(editor.page.url());
		const sale = `${origin}/webhook/${trigger?.webhookId}/digital-sales`;
		expect((await fetch(sale, { method: 'POST' })).status).toBe(404);

		const title = newcomer.n8n.sandbox.products[0]?.title ?? '';
		const node = await editor.openNode(trigger?.name ?? '');
		const found = await node.search('product', title);
		expect(found).toEqual([expect.stringContaining(title)]);
		await node.pick(title);
		expect(await node.picked('product')).toContain(title);
	},
);

it.each(['sell-and-deliver', 'reconciliation'])(
	'Execute workflow opens the form of %s, not its other trigger',
	async (name) => {
		const workflow = render(recipeOf(name), name, 'en');
		const nodes = await chosen(workflow.nodes);
		const { id } = await rest.createWorkflow({ ...workflow, nodes });
		await editor.openWorkflow(id);
		const opened = editor.page.context().waitForEvent('page');

		await editor.executeAll('Execute workflow');

		const form = await opened;
		await form.getByRole('button', { name: 'Get my PIX' }).waitFor();
		expect(form.url()).toContain('/form-test/');
		await form.close();
	},
);

it('the editor marks the nodes whose credential is not chosen yet', async () => {
	const [recipe] = RECIPES_IN_EACH;
	const { id } = await rest.createWorkflow(
		recipe?.workflow ?? { name: '', nodes: [], connections: {} },
	);

	await editor.openWorkflow(id);

	expect(await editor.nodesWithIssues()).not.toEqual([]);
});
