import { CredentialTestContext, ExecuteContext, LoadOptionsContext, RoutingNode } from 'n8n-core';
import {
	createEmptyRunExecutionData,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialsDecrypted,
	type ICredentialTestFunction,
	type ICredentialTestRequest,
	type INode,
	type INodeCredentialTestResult,
	type INodeListSearchResult,
	type INodeParameters,
	type INodeType,
} from 'n8n-workflow';
import { HarnessCredentials } from './credentials';
import { createAdditionalData, StoredWorkflow, type Surroundings } from './engine';
import { ACTION_TYPE, CREDENTIAL_TYPE, defaultProcess, TRIGGER_TYPE } from './nodeProcess';
import { HarnessNodeTypes, NO_OP_TYPE } from './nodeTypes';

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

/** Presses a credential's "Test" button: declared or coded, wherever n8n would find the test. */
export async function runCredentialTest(
	data: ICredentialDataDecryptedObject,
	options: CredentialTestOptions = {},
): Promise<INodeCredentialTestResult> {
	const { credentialType = CREDENTIAL_TYPE, testedBy = [ACTION_TYPE, TRIGGER_TYPE] } = options;
	const process = options.process ?? defaultProcess;
	const credentials = new HarnessCredentials(
		process,
		{ [credentialType]: data },
		options.credentialTypes,
	);
	const additionalData = await createAdditionalData(credentials);
	const decrypted: ICredentialsDecrypted = {
		id: `${credentialType}-1`,
		name: `${credentialType} of the test`,
		type: credentialType,
		data: credentials.applyDefaults(additionalData, data, credentialType, 'internal'),
	};
	const declared = credentials.type(credentialType).test;
	const nodeTypes = new HarnessNodeTypes(process, options.nodeTypes);
	const test = declared ?? findTest(nodeTypes, testedBy, credentialType);
	if (test === undefined) {
		return { status: 'Error', message: 'No testing function found for this credential.' };
	}
	if (typeof test === 'function') {
		return await test.call(new CredentialTestContext(additionalData), decrypted);
	}
	return await runDeclaredTest(test, decrypted, credentials, nodeTypes);
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

async function runDeclaredTest(
	test: ICredentialTestRequest,
	decrypted: ICredentialsDecrypted,
	credentials: HarnessCredentials,
	nodeTypes: HarnessNodeTypes,
): Promise<INodeCredentialTestResult> {
	const { description } = nodeTypes.getByName(NO_OP_TYPE);
	const nodeType: INodeType = {
		description: {
			...description,
			credentials: [{ name: decrypted.type, required: true }],
			properties: [
				{
					displayName: 'Temp',
					name: 'temp',
					type: 'string',
					routing: { request: test.request },
					default: '',
				},
			],
		},
	};
	const node: INode = {
		id: 'temp',
		name: 'Temp-Node',
		type: NO_OP_TYPE,
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
		credentials: { [decrypted.type]: { id: decrypted.id, name: decrypted.name } },
	};
	const process = new HarnessNodeTypes(defaultProcess, { [NO_OP_TYPE]: nodeType });
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: process,
	});
	const context = new ExecuteContext(
		workflow,
		node,
		await createAdditionalData(credentials, { currentNodeParameters: {} }),
		'internal',
		createEmptyRunExecutionData(),
		0,
		[],
		{ main: [[{ json: {} }]] },
		{ node, data: {}, source: null },
		[],
	);
	try {
		const response = await new RoutingNode(context, nodeType, decrypted).runNode();
		return judgeBody(test, response?.[0]?.[0]?.json);
	} catch (error) {
		return judgeError(test, error as DeclaredTestError);
	}
}

interface DeclaredTestError extends Error {
	cause?: { code?: string; response?: { status: number; statusText: string } };
}

function judgeBody(test: ICredentialTestRequest, body: unknown): INodeCredentialTestResult {
	for (const rule of test.rules ?? []) {
		if (rule.type !== 'responseSuccessBody') continue;
		const { key, value, message } = rule.properties;
		const found = key
			.split('.')
			.reduce<unknown>(
				(part, name) => (part as Record<string, unknown> | null | undefined)?.[name],
				body,
			);
		if (found === value) return { status: 'Error', message };
	}
	return { status: 'OK', message: 'Connection successful!' };
}

function judgeError(
	test: ICredentialTestRequest,
	error: DeclaredTestError,
): INodeCredentialTestResult {
	const { response, code } = error.cause ?? {};
	if (response !== undefined) {
		for (const rule of test.rules ?? []) {
			if (rule.type === 'responseCode' && rule.properties.value === response.status) {
				return { status: 'Error', message: rule.properties.message };
			}
		}
		if (response.status < 199 || response.status > 299) {
			const message = response.statusText || `Received HTTP status code: ${response.status}`;
			return { status: 'Error', message };
		}
	} else if (code !== undefined) {
		return { status: 'Error', message: code };
	}
	return { status: 'Error', message: error.message };
}
