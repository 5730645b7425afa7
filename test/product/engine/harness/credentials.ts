import './container';
import { getAdditionalKeys } from 'n8n-core';
import {
	ICredentialsHelper,
	NodeHelpers,
	type ICredentialDataDecryptedObject,
	injectDomainRestrictionFields,
	type ICredentials,
	type ICredentialsExpressionResolveValues,
	type ICredentialType,
	type IDataObject,
	type IExecuteData,
	type IHttpRequestOptions,
	type INodeCredentialsDetails,
	type INodeProperties,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import type { NodeProcess } from './nodeTypes';

/** What a person typed into each credential, by credential type. */
export type CredentialData = Record<string, ICredentialDataDecryptedObject>;

/** Credentials as n8n's server resolves them, kept in memory instead of its database. */
export class HarnessCredentials extends ICredentialsHelper {
	constructor(
		private readonly process: NodeProcess,
		private readonly data: CredentialData,
	) {
		super();
	}

	private type(name: string): ICredentialType {
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
		_raw?: boolean,
		values?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		const data = this.data[type];
		if (data === undefined) throw new Error(`Credential of type "${type}" does not exist`);
		const filled = this.withDefaults(type, data);
		// Outside of a run the harness resolves no expressions.
		if (values === undefined) return filled;
		return values.workflow.expression.getParameterValue(
			filled as never,
			values.runExecutionData,
			values.runIndex,
			values.itemIndex,
			values.node.name,
			values.connectionInputData,
			mode,
			getAdditionalKeys(additionalData, mode, null, { isCredential: true }),
			executeData,
			false,
			filled,
		) as ICredentialDataDecryptedObject;
	}

	/** The typed data, and the defaults of the form for the rest. */
	withDefaults(type: string, data: ICredentialDataDecryptedObject): ICredentialDataDecryptedObject {
		return NodeHelpers.getNodeParameters(
			this.getCredentialsProperties(type),
			{ ...data } as IDataObject as never,
			true,
			false,
			null,
			null,
		) as ICredentialDataDecryptedObject;
	}

	async updateCredentials(): Promise<void> {}

	async updateCredentialsOauthTokenData(): Promise<void> {}

	getCredentialsProperties(type: string): INodeProperties[] {
		// n8n adds its own fields to every credential when it loads the package.
		return injectDomainRestrictionFields(this.type(type));
	}
}
