import type { IDataObject, IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { jsonObject } from '../shared/json';

const CONTEXT_KEY = 'waitForPayment';

const waitSchema = z.object({
	/** Tells this wait from a later one of the same execution, which has the same address. */
	id: z.string(),
	/** When the time limit is reached, in milliseconds of unix time. */
	deadline: z.number(),
	/** How long to wait before looking again by itself; 0 is never. */
	recheckMs: z.number(),
	/** How many items the node works on: those behind them are left out by Execute Once. */
	count: z.number(),
	/** The payments that were not settled when the execution was parked, by the place of their item. */
	open: z.array(
		z.object({
			index: z.number(),
			hash: z.string(),
			simplify: z.boolean(),
			unit: z.enum(['cents', 'reais']).optional(),
		}),
	),
});

export type ParkedWait = z.output<typeof waitSchema>;
export type OpenPayment = ParkedWait['open'][number];

/**
 * Keeps what a parked execution waits for with the execution itself, where it survives a restart and
 * reaches every process. It goes into the node's context and not into the items: at the time limit
 * n8n hands the items on as they are, and nobody wants to find it in there.
 */
export function storeWait(context: IExecuteFunctions, wait: ParkedWait): void {
	context.getContext('node')[CONTEXT_KEY] = JSON.stringify(wait);
}

/**
 * What this parked execution waits for.
 *
 * @throws Error where nothing has been stored
 */
export function readWait(context: IWebhookFunctions): ParkedWait {
	// A webhook gets at the context only by an expression. Braces in a name would end that.
	const name = JSON.stringify(context.getNode().name).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	const stored = context.evaluateExpression(`{{ $(${name}).context.${CONTEXT_KEY} }}`, 0);
	return waitSchema.parse(JSON.parse(z.string().parse(stored)));
}

// What an expression gives may be a view of n8n's own data.
const itemsSchema = z.array(z.object({ json: jsonObject.transform((json) => ({ ...json })) }));

/** The items as they were parked. */
export function readParkedItems(context: IWebhookFunctions): IDataObject[] {
	const items: unknown = context.evaluateExpression('{{ $input.all() }}', 0);
	return itemsSchema.parse(items).map(({ json }) => json);
}
