import type {
	IHookFunctions,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { digitalSalesApiTest } from './api/credentialTest';
import { receiveNotification } from './notification/receive';
import { isAnnounced, announce, withdraw } from './notification/triggerAddress';
import { triggerProperties } from './notification/triggerForm';

export class DigitalSalesTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Digital Sales Trigger',
		name: 'digitalSalesTrigger',
		icon: { light: 'file:digitalSales.svg', dark: 'file:digitalSales.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{"on " + $parameter["triggerOn"].join(", ")}}',
		description: 'Starts the workflow when a transaction is paid or changes otherwise',
		eventTriggerDescription: 'Waiting for a notification of the service',
		activationMessage:
			'New PIX charges of this workflow can now report to this trigger. For charges of other workflows, paste the production URL into the Notification URL of the credential.',
		triggerPanel: {
			header: 'Receive payments as they happen',
			executionsHelp: {
				inactive:
					'<b>To try it</b>, click "Listen for test event" and post a notification to the <b>test URL</b>, for example <code>curl -X POST &lt;test URL&gt; -H "Content-Type: application/json" -d \'{"hash":"..."}\'</code> with the hash of a transaction of your account. It is read from the service before it arrives here.<br><br><b>For real sales</b>, publish the workflow: notifications then go to the <b>production URL</b>.',
				active:
					'<b>To try it</b>, click "Listen for test event" and post a notification to the <b>test URL</b>, for example <code>curl -X POST &lt;test URL&gt; -H "Content-Type: application/json" -d \'{"hash":"..."}\'</code> with the hash of a transaction of your account.<br><br><b>Real sales</b> run by themselves through the <b>production URL</b> and appear in the list of executions.',
			},
			activationHint:
				'Publish the workflow, and every charge that reports to its production URL starts it.',
		},
		defaults: { name: 'Digital Sales Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'digitalSalesApi', required: true, testedBy: 'digitalSalesApiTest' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				path: 'digital-sales',
			},
		],
		properties: triggerProperties,
	};

	methods = { credentialTest: { digitalSalesApiTest } };

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return isAnnounced(this);
			},
			async create(this: IHookFunctions): Promise<boolean> {
				return announce(this);
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return withdraw(this);
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveNotification(this);
	}
}
