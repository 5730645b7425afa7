import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { formProperties, manyItemsHints, subtitleExpression } from './actions/registry';
import { router } from './actions/router';
import { digitalSalesApiTest } from './api/credentialTest';
import { searchOffers, searchProducts } from './listSearch/products';
import { resume } from './wait/resume';
import { resumeWebhooks } from './wait/suspendedWait';

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
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'digitalSalesApi', required: true, testedBy: 'digitalSalesApiTest' }],
		webhooks: resumeWebhooks,
		hints: manyItemsHints(),
		properties: formProperties(),
	};

	methods = {
		credentialTest: { digitalSalesApiTest },
		listSearch: { searchProducts, searchOffers },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await router.call(this);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await resume(this);
	}
}
