import type {
	IDataObject,
	IExecuteFunctions,
	IWebhookDescription,
	IWebhookFunctions,
} from 'n8n-workflow';
import { z } from 'zod';
import { transactionFieldsSchema } from '../output/transaction';
import { jsonObject } from '../shared/json';

const CONTEXT_KEY = 'waitForPayment';
/** The end of the resume address: it keeps the address from resuming a Wait node of n8n's own. */
const PATH = 'digital-sales';

const waitSchema = z.object({
	/** Distinguishes later waits of the same execution, which share its address. */
	id: z.string(),
	/** The time limit, in milliseconds of unix time. */
	deadline: z.number(),
	/** When n8n itself ends the wait, likewise. */
	endsAt: z.number(),
	/** How many items the node works on; Execute Once leaves out the rest. */
	count: z.number(),
	/** Payments that were open or paid at the time of suspension, by the index of their item. */
	payments: z.array(
		z.object({
			index: z.number(),
			hash: z.string(),
			simplify: z.boolean(),
			fields: transactionFieldsSchema,
		}),
	),
});
export type SuspendedWait = z.output<typeof waitSchema>;

/**
 * Stores the wait with the execution, so that it survives a restart and reaches every process. It
 * goes into the node's context: n8n passes on the items if it ends the wait itself.
 */
export function storeWait(context: IExecuteFunctions, wait: SuspendedWait): void {
	context.getContext('node')[CONTEXT_KEY] = JSON.stringify(wait);
}

/** What this execution waits for; throws if nothing was stored. */
export function readWait(context: IWebhookFunctions): SuspendedWait {
	// A webhook can read the context only by an expression, which braces in a name would end.
	const name = JSON.stringify(context.getNode().name).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	const stored = context.evaluateExpression(`{{ $(${name}).context.${CONTEXT_KEY} }}`, 0);
	return waitSchema.parse(JSON.parse(z.string().parse(stored)));
}

// Copied, because an expression may return a view of n8n's own data.
const itemsSchema = z.array(z.object({ json: jsonObject.transform((json) => ({ ...json })) }));

/** The items as they were suspended. */
export function readSuspendedItems(context: IWebhookFunctions): IDataObject[] {
	const items: unknown = context.evaluateExpression('{{ $input.all() }}', 0);
	return itemsSchema.parse(items).map(({ json }) => json);
}

/** The webhook that resumes a suspended execution. */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		responseData: 'noData',
		path: PATH,
		restartWebhook: true,
		isFullPath: true,
	},
];

/** The signed address that resumes this execution once it is suspended. */
export function resumeUrl(
	context: Pick<IExecuteFunctions | IWebhookFunctions, 'evaluateExpression'>,
	itemIndex: number,
): string {
	const url = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', itemIndex)));
	url.pathname += `/${PATH}`;
	return url.href;
}
