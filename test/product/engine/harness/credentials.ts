import './container';
import { getAdditionalKeys } from 'n8n-core';
import {
	ICredentialsHelper,
	NodeHelpers,
	Workflow,
	type ICredentialDataDecryptedObject,
	injectDomainRestrictionFields,
	type ICredentials,
	type ICredentialsExpressionResolveValues,
	type ICredentialType,
	type IDataObject,
	type IExecuteData,
	type IHttpRequestOptions,
	type INode,
	type INodeCredentialsDetails,
	type INodeProperties,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { HarnessNodeTypes, NO_OP_TYPE, type NodeProcess } from './nodeTypes';

/** What a person typed into each credential, by credential type. */
export type CredentialData = Record<string, ICredentialDataDecryptedObject>;

const MOCK_NODE: INode = {
	id: 'mock',
	name: 'Mock node',
	type: NO_OP_TYPE,
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** Credentials as n8n's server resolves them, kept in memory instead of its database. */
export class HarnessCredentials extends ICredentialsHelper {
	constructor(
		private readonly process: NodeProcess,
		private readonly data: CredentialData,
	) {
		super();
	}

	/** The credential type of that name. */
	type(name: string): ICredentialType {
		const type = this.process.credentialType(name);
		if (type === undefined) throw new Error(`No credential type "${name}" in this test`);
		return type;
	}

	getParentTypes(name: string): string[] {
		return this.type(name).extends ?? [];
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.type(typeName);
		if (typeof authenticate === 'function') return await authenticate(credentials, requestOptions);
		throw new Error('Only a coded authenticate is part of this harness');
	}

	async preAuthentication(): Promise<undefined> {}

	async runPreAuthentication(): Promise<undefined> {}

	async getCredentials(): Promise<ICredentials> {
		throw new Error('Stored credentials are not part of this harness');
	}

	async getDecrypted(
		additionalData: IWorkflowExecuteAdditionalData,
		_nodeCredentials: INodeCredentialsDetails,
		type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		raw?: boolean,
		expressionResolveValues?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		const data = this.data[type];
		if (data === undefined) throw new Error(`Credential of type "${type}" does not exist`);
		if (raw === true) return { ...data };
		return this.applyDefaults(
			additionalData,
			data,
			type,
			mode,
			executeData,
			expressionResolveValues,
		);
	}

	/** The typed data with the defaults of the form and its expressions resolved, as n8n does. */
	applyDefaults(
		additionalData: IWorkflowExecuteAdditionalData,
		data: ICredentialDataDecryptedObject,
		type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		values?: ICredentialsExpressionResolveValues,
	): ICredentialDataDecryptedObject {
		const withDefaults = NodeHelpers.getNodeParameters(
			this.getCredentialsProperties(type),
			{ ...data } as IDataObject as never,
			true,
			false,
			null,
			null,
		);
		const resolvable = (withDefaults ?? {}) as ICredentialDataDecryptedObject;
		const keys = getAdditionalKeys(additionalData, mode, null, { isCredential: true });
		if (values !== undefined) {
			return values.workflow.expression.getParameterValue(
				resolvable as never,
				values.runExecutionData,
				values.runIndex,
				values.itemIndex,
				values.node.name,
				values.connectionInputData,
				mode,
				keys,
				executeData,
				false,
				resolvable,
			) as ICredentialDataDecryptedObject;
		}
		const workflow = new Workflow({
			nodes: [MOCK_NODE],
			connections: {},
			active: false,
			nodeTypes: new HarnessNodeTypes(this.process),
		});
		return workflow.expression.getComplexParameterValue(
			MOCK_NODE,
			resolvable as never,
			mode,
			keys,
			undefined,
			undefined,
			resolvable,
		) as ICredentialDataDecryptedObject;
	}

	async updateCredentials(): Promise<void> {}

	async updateCredentialsOauthTokenData(): Promise<void> {}

	getCredentialsProperties(type: string): INodeProperties[] {
		// n8n adds its own fields to every credential when it loads the package.
		return injectDomainRestrictionFields(this.type(type));
	}
}
