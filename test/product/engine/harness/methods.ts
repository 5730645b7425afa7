import { CredentialTestContext, LoadOptionsContext } from 'n8n-core';
import {
	type ICredentialDataDecryptedObject,
	type ICredentialsDecrypted,
	type ICredentialTestFunction,
	type ICredentialTestRequest,
	type INode,
	type INodeCredentialTestResult,
	type INodeListSearchResult,
	type INodeParameters,
} from 'n8n-workflow';
import { HarnessCredentials } from './credentials';
import { createAdditionalData, StoredWorkflow, type Surroundings } from './engine';
import {
	ACTION_TYPE,
	CREDENTIAL_TYPE,
	defaultProcess,
	HarnessNodeTypes,
	TRIGGER_TYPE,
} from './nodeTypes';

/** How a list is asked for. */
export interface ListSearchOptions extends Surroundings {
	filter?: string;
	paginationToken?: string;
	/** The form's values at the moment of the search. */
	parameters?: INodeParameters;
	/** The parameter whose list it is. */
	path?: string;
	/** The full type name; the action node by default. */
	type?: string;
}

/** Calls a listSearch method as the editor does for an open list. Rejects where it throws. */
export async function runListSearch(
	name: string,
	options: ListSearchOptions = {},
): Promise<INodeListSearchResult> {
	const { parameters = {}, type = ACTION_TYPE, path = 'parameters.list' } = options;
	const node = { name: 'Temp-Node', type, parameters };
	const stored = new StoredWorkflow({ nodes: [node] }, options);
	const workflow = stored.load();
	const method = stored.nodeTypes.getByName(type).methods?.listSearch?.[name];
	if (method === undefined) throw new Error(`"${type}" has no listSearch method "${name}"`);
	const additionalData = await createAdditionalData(stored.credentials, {
		currentNodeParameters: parameters,
	});
	const context = new LoadOptionsContext(
		workflow,
		workflow.getNode(node.name) as INode,
		additionalData,
		path,
	);
	const result = await method.call(context, options.filter, options.paginationToken);
	const token: unknown = result.paginationToken;
	return typeof token === 'number' ? { ...result, paginationToken: String(token) } : result;
}

/** What a credential test is run with. */
export interface CredentialTestOptions extends Omit<Surroundings, 'credentials'> {
	/** The credential type; the package's own by default. */
	credentialType?: string;
	/** Full names of the node types that may hold the test; the package's own by default. */
	testedBy?: string[];
}

/** Presses a credential's "Test" button. */
export async function runCredentialTest(
	data: ICredentialDataDecryptedObject,
	options: CredentialTestOptions = {},
): Promise<INodeCredentialTestResult> {
	const { credentialType = CREDENTIAL_TYPE, testedBy = [ACTION_TYPE, TRIGGER_TYPE] } = options;
	const process = options.process ?? defaultProcess;
	const credentials = new HarnessCredentials(process, { [credentialType]: data });
	const additionalData = await createAdditionalData(credentials);
	const decrypted: ICredentialsDecrypted = {
		id: `${credentialType}-1`,
		name: `${credentialType} of the test`,
		type: credentialType,
		data: credentials.applyDefaults(additionalData, data, credentialType, 'internal'),
	};
	const nodeTypes = new HarnessNodeTypes(process, options.nodeTypes);
	const test = findTest(nodeTypes, testedBy, credentialType);
	if (typeof test !== 'function') throw new Error('This credential has no coded test');
	return await test.call(new CredentialTestContext(additionalData), decrypted);
}

function findTest(
	nodeTypes: HarnessNodeTypes,
	names: string[],
	credentialType: string,
): ICredentialTestFunction | ICredentialTestRequest | undefined {
	for (const name of names) {
		const { description, methods } = nodeTypes.getByName(name);
		for (const { name: type, testedBy } of description.credentials ?? []) {
			if (type !== credentialType || testedBy === undefined) continue;
			return typeof testedBy === 'string' ? methods?.credentialTest?.[testedBy] : testedBy;
		}
	}
	return undefined;
}
