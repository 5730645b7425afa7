import {
	type IExecuteFunctions,
	type IHookFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeConnectionTypes,
} from 'n8n-workflow';
import { digitalSalesApiTest } from './api';
import { searchOffers, searchProducts, triggerSubtitle } from './form';
import { WEBHOOK_PATH } from './n8n';
import { executeTrigger } from './trigger/execute';
import { readTriggerForm, triggerForm } from './trigger/form';
import { receiveWebhook } from './trigger/receive';
import { sendTestEvent } from './trigger/testEvent';

const TRY_IT =
	'<b>To try it</b>, enter the hash of a past sale in <b>Test With Transaction</b>, and press <b>Execute step</b> above: it arrives here like a new sale.';

const WEBHOOK = {
	responseMode: 'onReceived',
	responseData: 'noData',
	path: WEBHOOK_PATH,
} as const;

export class DigitalSalesTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Digital Sales Trigger',
		name: 'digitalSalesTrigger',
		icon: { light: 'file:digitalSales.svg', dark: 'file:digitalSales.dark.svg' },
		group: ['trigger'],
		// Not 1, because n8n then evaluates `options.binaryData` at each webhook.
		version: 2,
		subtitle: triggerSubtitle,
		// The node panel merges both nodes into one entry and shows this description for it.
		description:
			'Get paid by PIX: charge customers, create offers, list products, and start a workflow when a payment is confirmed.',
		eventTriggerDescription: 'Waiting for a webhook from the platform',
		activationMessage:
			'Charges of this workflow now notify this trigger. For other charges, copy its production URL (under Webhook URLs).',
		triggerPanel: {
			header: 'Try it with a past sale: Test With Transaction',
			executionsHelp: {
				inactive: `${TRY_IT}<br><br><b>For real sales</b>, publish the workflow: every charge that notifies the <b>production URL</b> then starts it.`,
				active: `${TRY_IT}<br><br><b>Real sales</b> arrive automatically through the <b>production URL</b> and appear under Executions.`,
			},
			activationHint:
				'Publish the workflow, and every charge that notifies its production URL starts it.',
		},
		defaults: { name: 'Digital Sales Trigger' },
		waitingNodeTooltip:
			'Waiting until the platform shows what the webhook says. The execution then continues, or ends without an item.',
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'digitalSalesApi', required: true, testedBy: 'digitalSalesApiTest' }],
		webhooks: [
			{ ...WEBHOOK, name: 'default', httpMethod: 'POST' },
			// A platform may probe the address, and a person may open it in a browser.
			{ ...WEBHOOK, name: 'setup', httpMethod: 'GET', ndvHideUrl: true },
			{ ...WEBHOOK, name: 'setup', httpMethod: 'HEAD', ndvHideUrl: true },
		],
		builderHint: {
			searchHint:
				'Starts when a transaction changes its status, by default when it is paid. Paid does not say for what: before anything is delivered set Products or Filters > Offers, and Filters > Minimum Amount in Reais. With several statuses in Trigger On, branch on payment_status. To wait in the execution that charged instead, use Wait for Payment, and deliver after its output Paid.',
		},
		properties: triggerForm.properties,
	};

	methods = {
		credentialTest: { digitalSalesApiTest },
		listSearch: { searchProducts, searchOffers },
	};

	webhookMethods = {
		default: {
			/** True skips `create`, which checks the form. Nobody reads its error when n8n starts or changes its leader. */
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return ['init', 'leadershipChange'].includes(this.getActivationMode());
			},
			async create(this: IHookFunctions): Promise<boolean> {
				await sendTestEvent(this, readTriggerForm(this));
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveWebhook(this);
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeTrigger(this);
	}
}
