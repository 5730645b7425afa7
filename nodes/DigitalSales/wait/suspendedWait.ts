import type {
	IDataObject,
	IExecuteFunctions,
	IWebhookDescription,
	IWebhookFunctions,
} from 'n8n-workflow';
import { z } from 'zod';
import { jsonObject } from '../shared/json';

const CONTEXT_KEY = 'waitForPayment';
/** The end of the resume address: it keeps the address from resuming a Wait node of n8n's own. */
const PATH = 'digital-sales';

const waitSchema = z.object({
	/** Tells this wait from a later one of the same execution, which has the same address. */
	id: z.string(),
	/** When the time limit is reached, in milliseconds of unix time. */
	deadline: z.number(),
	/** How long to wait before the next poll; 0 is never. */
	recheckMs: z.number(),
	/** How many items the node works on: Execute Once leaves out the rest. */
	count: z.number(),
	/** The payments that were not settled when the execution was suspended, by the index of their item. */
	open: z.array(
		z.object({
			index: z.number(),
			hash: z.string(),
			simplify: z.boolean(),
			unit: z.enum(['cents', 'reais']).optional(),
		}),
	),
});

export type SuspendedWait = z.output<typeof waitSchema>;
export type OpenPayment = SuspendedWait['open'][number];

/**
 * Stores what a suspended execution waits for with the execution itself, so that it survives a restart
 * and reaches every process. It goes into the node's context, not into the items: at the time limit
 * n8n passes the items on as they are.
 */
export function storeWait(context: IExecuteFunctions, wait: SuspendedWait): void {
	context.getContext('node')[CONTEXT_KEY] = JSON.stringify(wait);
}

/**
 * What this suspended execution waits for.
 *
 * @throws Error if nothing has been stored
 */
export function readWait(context: IWebhookFunctions): SuspendedWait {
	// A webhook can read the context only by an expression, which braces in a name would end.
	const name = JSON.stringify(context.getNode().name).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	const stored = context.evaluateExpression(`{{ $(${name}).context.${CONTEXT_KEY} }}`, 0);
	return waitSchema.parse(JSON.parse(z.string().parse(stored)));
}

// An expression may return a view of n8n's own data, so each item is copied.
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

/** The address that resumes this very execution once it is suspended, its signature included. */
export function resumeUrl(
	context: Pick<IExecuteFunctions | IWebhookFunctions, 'evaluateExpression'>,
	itemIndex: number,
): string {
	const url = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', itemIndex)));
	url.pathname += `/${PATH}`;
	return url.href;
}
