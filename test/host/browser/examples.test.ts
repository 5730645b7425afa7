import path from 'node:path';
import { CREDENTIAL_TYPE, Example } from '../n8n/examples';
import type { N8nRest, SavedCredential } from '../n8n/rest';
import type { Editor } from './editor';
import { INSTALL_AND_START_MS, startNewcomer, type Newcomer } from './newcomer';
import { EXAMPLES, picture } from './pictures';

let newcomer: Newcomer;
let editor: Editor;
let rest: N8nRest;
let credential: SavedCredential;
let chatModel: SavedCredential;

beforeAll(async () => {
	newcomer = await startNewcomer();
	({ editor, rest } = newcomer);
	const { baseUrl, apiToken, bodyApiToken } = newcomer.sandbox;
	const account = { baseUrl, apiToken, bodyApiToken };
	credential = await rest.createCredential('Digital Sales sandbox', CREDENTIAL_TYPE, account);
	chatModel = await rest.createCredential('Chat model', 'openAiApi', { apiKey: 'test-key' });
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await newcomer?.stop();
});

it('shows what is missing in an example whose credential is not chosen yet', async () => {
	const [example] = await Example.all();
	const { id } = await rest.createWorkflow(
		example?.workflow ?? { name: '', nodes: [], connections: {} },
	);

	await editor.openWorkflow(id);

	expect(await editor.nodesWithIssues()).not.toEqual([]);
});

it('shows no issue in any example once the credential is chosen', async () => {
	for (const example of await Example.all()) {
		const { id } = await rest.createWorkflow(example.complete(credential, chatModel));

		await editor.openWorkflow(id);

		expect([example.file, await editor.nodesWithIssues()]).toEqual([example.file, []]);
		const name = EXAMPLES + path.parse(example.file).name;
		await picture(editor.page, name, await editor.workflowArea());
	}
});
