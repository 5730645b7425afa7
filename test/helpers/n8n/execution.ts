import { z } from 'zod';
import { requireOfHost } from './host';

/** The library that n8n writes executions with. */
const flatted = (): { parse: (text: string) => unknown } =>
	requireOfHost('flatted') as { parse: (text: string) => unknown };

export const summarySchema = z.object({
	id: z.string(),
	workflowId: z.string(),
	mode: z.string(),
	status: z.string(),
	createdAt: z.string().optional(),
	startedAt: z.string().nullable(),
	/** Engine 2.0 omits it until the execution ends. */
	stoppedAt: z.string().nullable().default(null),
	/** The original execution of a Retry. */
	retryOf: z.string().nullish(),
});
/** `data` is text in the format of the package flatted. */
export const storedSchema = summarySchema.extend({ data: z.string() });

const itemSchema = z.object({ json: z.record(z.unknown()) }).passthrough();
const connectionsSchema = z.record(z.array(z.array(itemSchema).nullable()));
const errorSchema = z
	.object({ message: z.string(), description: z.string().nullish() })
	.passthrough();
const nodeRunSchema = z.object({
	error: z.object({ message: z.string() }).passthrough().optional(),
	data: connectionsSchema.optional(),
});
const dataSchema = z.object({
	executionData: z.object({ nodeExecutionStack: z.array(z.unknown()) }).optional(),
	resultData: z.object({
		error: errorSchema.optional(),
		lastNodeExecuted: z.string().optional(),
		runData: z.record(z.array(nodeRunSchema)),
	}),
});

export type ExecutionSummary = z.infer<typeof summarySchema>;
type Item = z.infer<typeof itemSchema>;

export class Execution {
	private constructor(
		readonly summary: ExecutionSummary,
		private readonly data: z.infer<typeof dataSchema>,
	) {}

	static read({ data, ...summary }: z.infer<typeof storedSchema>): Execution {
		return new Execution(summary, dataSchema.parse(flatted().parse(data)));
	}

	get error(): string | undefined {
		return this.data.resultData.error?.message;
	}

	/** The error with its description; empty if the execution succeeded. */
	get complaint(): string {
		const { error } = this.data.resultData;
		return error ? [error.message, error.description ?? ''].join('\n') : '';
	}

	/** Whether n8n kept no data, because the worker of the execution died. */
	get isForgotten(): boolean {
		const { resultData, executionData } = this.data;
		// The input of the next nodes, with which a Retry would begin.
		const next = executionData?.nodeExecutionStack ?? [];
		return Object.keys(resultData.runData).length === 0 && next.length === 0;
	}

	get lastNode(): string | undefined {
		return this.data.resultData.lastNodeExecuted;
	}

	runs(node: string): number {
		return this.data.resultData.runData[node]?.length ?? 0;
	}

	/** The items of an output in all runs; the first output is 0. */
	items(node: string, output = 0): Item[] {
		const runs = this.data.resultData.runData[node] ?? [];
		return runs.flatMap((run) => run.data?.main?.[output] ?? []);
	}
}
