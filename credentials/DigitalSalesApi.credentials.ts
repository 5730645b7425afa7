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

	documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-digital-sales#your-first-paid-charge';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://api.example.com/api/public/v1',
			hint: 'Usually ends in /public/v1',
			description: 'The full API address of the platform, version included',
		},
		{
			displayName: 'API Token',
			name: 'apiToken',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description:
				'The API token of your account. These nodes send it only to the host of the Base URL.',
		},
		{
			displayName: 'Notification URL',
			name: 'notificationUrl',
			type: 'string',
			hint: 'Only for charges of workflows that have no trigger and no Wait for Payment',
			default: '',
			placeholder: 'e.g. https://n8n.example.com/webhook/.../digital-sales',
			description:
				'Where the platform sends webhooks by default: paste the production URL that a Digital Sales Trigger shows under Webhook URLs',
		},
		{
			displayName: 'My Platform Differs',
			name: 'platformDiffers',
			type: 'boolean',
			default: false,
			description:
				'Whether your platform issues a second token for charges, or names the notification address in another way',
		},
		{
			displayName: 'Second API Token',
			name: 'bodyApiToken',
			type: 'string',
			typeOptions: { password: true },
			displayOptions: { show: { platformDiffers: [true] } },
			default: '',
			description: 'The token for creating transactions. Leave empty to use the API Token.',
		},
		{
			displayName: 'Notification Field',
			name: 'notificationField',
			type: 'string',
			displayOptions: { show: { platformDiffers: [true] } },
			default: '',
			placeholder: 'e.g. postback_url',
			description:
				'If the API documentation of your platform shows another name than webhook_url in the request for a charge. The address is then sent under this name, too.',
		},
	];

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const token = String(credentials.apiToken ?? '')
			.trim()
			.replace(/^Bearer\s+/i, '');
		return {
			...requestOptions,
			headers: { ...requestOptions.headers, Authorization: `Bearer ${token}` },
		};
	}
}
