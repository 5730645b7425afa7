import {
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type ICredentialType,
	type IDataObject,
	type IHttpRequestOptions,
	injectDomainRestrictionFields,
	type INodeCredentialsDetails,
	type INodeProperties,
	type IWorkflowExecuteAdditionalData,
	NodeHelpers,
} from 'n8n-workflow';
import type { NodeProcess } from './nodeTypes';

/** What a person typed into each credential, by credential type. */
export type CredentialData = Record<string, ICredentialDataDecryptedObject>;

/** What the engine uses of the server's helper. */
type UsedHelper = Omit<
	ICredentialsHelper,
	| 'getCredentials'
	| 'runPreAuthentication'
	| 'updateCredentials'
	| 'updateCredentialsOauthTokenData'
>;

/** Credentials as n8n's server has them, but in memory, and without expressions in their fields. */
export class HarnessCredentials implements UsedHelper {
	constructor(
		private readonly process: NodeProcess,
		private readonly data: CredentialData,
	) {}

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

	async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		_nodeCredentials: INodeCredentialsDetails,
		type: string,
	): Promise<ICredentialDataDecryptedObject> {
		const data = this.data[type];
		if (data === undefined) throw new Error(`Credential of type "${type}" does not exist`);
		return this.withDefaults(type, data);
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

	getCredentialsProperties(type: string): INodeProperties[] {
		// n8n adds its own fields to every credential when it loads the package.
		return injectDomainRestrictionFields(this.type(type));
	}
}
