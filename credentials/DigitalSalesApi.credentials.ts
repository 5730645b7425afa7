import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
	Icon,
} from 'n8n-workflow';

export class DigitalSalesApi implements ICredentialType {
	name = 'digitalSalesApi';

	displayName = 'Digital Sales API';

	icon: Icon = {
		light: 'file:../nodes/DigitalSales/digitalSales.svg',
		dark: 'file:../nodes/DigitalSales/digitalSales.dark.svg',
	};

	documentationUrl = 'https://example.com/n8n-nodes-digital-sales#credential';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://api.example.com/api/public/v1',
			description:
				'Address of the service with its whole path, the version included. It is in the API section of the service panel.',
		},
		{
			displayName: 'API Token',
			name: 'apiToken',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'The API token of your account. It is sent only to the host of the Base URL.',
		},
		{
			displayName: 'Body API Token',
			name: 'bodyApiToken',
			type: 'string',
			typeOptions: { password: true },
			hint: 'Leave empty unless your service gives two tokens',
			default: '',
			description:
				'Only if your service gives a second token for creating transactions. Leave empty to use the API token.',
		},
		{
			displayName: 'Notification URL',
			name: 'notificationUrl',
			type: 'string',
			hint: 'Can stay empty; a workflow can also name its own trigger',
			default: '',
			placeholder: 'e.g. https://n8n.example.com/webhook/.../digital-sales',
			description:
				'Address that new PIX charges report to, for workflows that choose "Address From the Credential". Paste the production URL of a Digital Sales Trigger.',
		},
	];

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const token = String(credentials.apiToken ?? '').trim();
		return {
			...requestOptions,
			headers: { ...requestOptions.headers, Authorization: `Bearer ${token}` },
		};
	}
}
