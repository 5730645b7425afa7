import { CredentialTestContext, LoadOptionsContext } from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	INode,
	INodeCredentialTestResult,
	INodeListSearchResult,
} from 'n8n-workflow';
import { HarnessCredentials } from './credentials';
import { createAdditionalData, StoredWorkflow, type Surroundings } from './engine';
import { ACTION_TYPE, defaultProcess } from './nodeTypes';

export interface ListSearchOptions extends Surroundings {
	filter?: string;
	paginationToken?: string;
	/** The full type name, by default of the action node. */
	type?: string;
}

/** Calls a listSearch method as the editor does for an open list. */
export async function runListSearch(
	name: string,
	{ type = ACTION_TYPE, filter, paginationToken, ...surroundings }: ListSearchOptions = {},
): Promise<INodeListSearchResult> {
	const node = { name: 'Temp-Node', type };
	const stored = new StoredWorkflow({ ...surroundings, nodes: [node] });
	const method = stored.nodeTypes.getByName(type).methods?.listSearch?.[name];
	if (method === undefined) throw new Error(`"${type}" has no listSearch method "${name}"`);
	const workflow = stored.load();
	const context = new LoadOptionsContext(
		workflow,
		workflow.getNode(node.name) as INode,
		createAdditionalData(stored.credentials),
		'parameters.list',
	);
	return await method.call(context, filter, paginationToken);
}

/** Presses the "Test" button of the package's credential. */
export async function runCredentialTest(
	typed: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const { credentialType, nodeTypes } = defaultProcess;
	const credentials = new HarnessCredentials(credentialType);
	const { description, methods } = nodeTypes[ACTION_TYPE] ?? {};
	const test = methods?.credentialTest?.[String(description?.credentials?.[0]?.testedBy)];
	if (test === undefined) throw new Error('The credential has no test in code');
	return await test.call(new CredentialTestContext(createAdditionalData(credentials)), {
		id: '1',
		name: 'The credential under test',
		type: credentialType.name,
		data: credentials.withDefaults(typed),
	});
}
