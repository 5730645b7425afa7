import { clock } from '../../../nodes/DigitalSales/shared/clock';
import {
	type ICredentialDataDecryptedObject,
	type ICredentialsExpressionResolveValues,
	type ICredentialsHelper,
	type ICredentialType,
	type IHttpRequestOptions,
	type IExecuteData,
	injectDomainRestrictionFields,
	type INodeParameters,
	type INodeProperties,
	type IWorkflowExecuteAdditionalData,
	NodeHelpers,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

/** The entered fields, by credential type. */
export type CredentialData = Record<string, ICredentialDataDecryptedObject>;

/** Replaces the part of n8n's server that gives credentials to the engine. */
export class HarnessCredentials implements Partial<ICredentialsHelper> {
	constructor(
		private readonly type: ICredentialType,
		private readonly data: CredentialData = {},
	) {}

	getParentTypes(): string[] {
		return [];
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		_typeName: string,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.type;
		if (typeof authenticate === 'function') return await authenticate(credentials, requestOptions);
		throw new Error('The harness supports only an authenticate function');
	}

	async preAuthentication(): Promise<undefined> {}

	async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		_node: unknown,
		type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		_raw?: boolean,
		resolveWith?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		const data = this.data[type];
		if (data === undefined) throw new Error(`Credential of type "${type}" does not exist`);
		const typed = this.withDefaults(data);
		if (!resolveWith) return typed;
		const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } =
			resolveWith;
		const resolved = workflow.expression.getParameterValue(
			typed as INodeParameters,
			runExecutionData,
			runIndex,
			itemIndex,
			node.name,
			connectionInputData,
			mode,
			{},
			executeData,
		);
		return resolved as ICredentialDataDecryptedObject;
	}

	/** Fields that were not entered get the defaults of the form. */
	withDefaults(data: ICredentialDataDecryptedObject): ICredentialDataDecryptedObject {
		const typed = { ...data } as INodeParameters;
		const properties = this.getCredentialsProperties();
		const complete = NodeHelpers.getNodeParameters(properties, typed, true, false, null, null);
		return complete as ICredentialDataDecryptedObject;
	}

	getCredentialsProperties(): INodeProperties[] {
		// n8n adds its own fields to every credential when it loads the package.
		return injectDomainRestrictionFields(this.type);
	}
}

/** n8n returns a credential after this time, until the mock is restored. */
export function delayCredential(ms: number): void {
	const { getDecrypted } = HarnessCredentials.prototype;
	jest.spyOn(HarnessCredentials.prototype, 'getDecrypted').mockImplementation(async function (
		this: HarnessCredentials,
		...given
	) {
		await clock.sleep(ms);
		return await getDecrypted.apply(this, given);
	});
}
