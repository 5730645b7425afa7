import { CredentialTestContext, LoadOptionsContext } from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	INode,
	INodeCredentialTestResult,
	INodeListSearchResult,
} from 'n8n-workflow';
import { HarnessCredentials } from './credentials';
import { createAdditionalData, StoredWorkflow, type Surroundings } from './engine';
import { ACTION_TYPE, CREDENTIAL_TYPE, defaultProcess, HarnessNodeTypes } from './nodeTypes';

/** How a list is asked for. */
export interface ListSearchOptions extends Surroundings {
	filter?: string;
	paginationToken?: string;
	/** The full type name; the action node by default. */
	type?: string;
}

/** Calls a listSearch method as the editor does for an open list. Rejects where it throws. */
export async function runListSearch(
	name: string,
	options: ListSearchOptions = {},
): Promise<INodeListSearchResult> {
	const { type = ACTION_TYPE, filter, paginationToken } = options;
	const node = { name: 'Temp-Node', type };
	const stored = new StoredWorkflow({ nodes: [node] }, options);
	const workflow = stored.load();
	const method = stored.nodeTypes.getByName(type).methods?.listSearch?.[name];
	if (method === undefined) throw new Error(`"${type}" has no listSearch method "${name}"`);
	const context = new LoadOptionsContext(
		workflow,
		workflow.getNode(node.name) as INode,
		await createAdditionalData(stored.credentials),
		'parameters.list',
	);
	return await method.call(context, filter, paginationToken);
}

/** Presses the "Test" button of the package's credential. */
export async function runCredentialTest(
	typed: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const credentials = new HarnessCredentials(defaultProcess, {});
	const additionalData = await createAdditionalData(credentials);
	const { description, methods } = new HarnessNodeTypes(defaultProcess).getByName(ACTION_TYPE);
	const [{ testedBy = '' } = {}] = description.credentials ?? [];
	const test = methods?.credentialTest?.[String(testedBy)];
	if (test === undefined) throw new Error('The credential has no test in code');
	return await test.call(new CredentialTestContext(additionalData), {
		id: '1',
		name: 'The credential under test',
		type: CREDENTIAL_TYPE,
		data: credentials.withDefaults(CREDENTIAL_TYPE, typed),
	});
}
