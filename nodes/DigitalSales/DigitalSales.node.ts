import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import {
	formProperties,
	manyItemsHints,
	outputsExpression,
	subtitleExpression,
} from './actions/registry';
import { executeOperation } from './actions/router';
import { digitalSalesApiTest } from './api';
import { searchOffers, searchProducts } from './form';
import { resumeWebhooks } from './n8n';
import { wakeExecution } from './wait';

export class DigitalSales implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Digital Sales',
		name: 'digitalSales',
		icon: { light: 'file:digitalSales.svg', dark: 'file:digitalSales.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: subtitleExpression(),
		description: 'List products, create offers and charge customers by PIX',
		defaults: { name: 'Digital Sales' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: outputsExpression(),
		credentials: [{ name: 'digitalSalesApi', required: true, testedBy: 'digitalSalesApiTest' }],
		webhooks: resumeWebhooks,
		hints: manyItemsHints(),
		waitingNodeTooltip:
			'Waiting for the payment. The execution continues when the payment is decided, or at the Time Limit.',
		builderHint: {
			searchHint:
				'Create PIX charges a customer and gives pix_qr_code, the text to pay with. Then add Wait for Payment with the hash from the Create PIX node (a node in between, such as a messenger, replaces the item), and deliver after its second output, Paid. Set Order Reference, so that an order is charged once however often it runs.',
		},
		properties: formProperties(),
	};

	methods = {
		credentialTest: { digitalSalesApiTest },
		listSearch: { searchProducts, searchOffers },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeOperation(this);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await wakeExecution(this);
	}
}
