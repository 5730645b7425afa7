import { parse } from 'flatted';
import { z } from 'zod';

export const summarySchema = z.object({
	id: z.string(),
	workflowId: z.string(),
	mode: z.string(),
	status: z.string(),
	createdAt: z.string().optional(),
	startedAt: z.string().nullable(),
	/** Engine 2.0 leaves it out until then. */
	stoppedAt: z.string().nullable().default(null),
	/** The execution that this one is a Retry of. */
	retryOf: z.string().nullish(),
});

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
	executionData: z
		.object({ nodeExecutionStack: z.array(z.object({ data: connectionsSchema })) })
		.optional(),
	resultData: z.object({
		error: errorSchema.optional(),
		lastNodeExecuted: z.string().optional(),
		runData: z.record(z.array(nodeRunSchema)),
	}),
});

export type ExecutionSummary = z.infer<typeof summarySchema>;
export type Item = z.infer<typeof itemSchema>;

/** An execution with what its nodes put out. */
export class Execution {
	private constructor(
		readonly summary: ExecutionSummary,
		private readonly data: z.infer<typeof dataSchema>,
	) {}

	/** Reads the text in which n8n hands out an execution's data. */
	static read(summary: ExecutionSummary, data: string): Execution {
		return new Execution(summary, dataSchema.parse(parse(data)));
	}

	/** The message of the error that ended it, if one did. */
	get error(): string | undefined {
		return this.data.resultData.error?.message;
	}

	/** Everything that error says to a person; empty if none ended it. */
	get complaint(): string {
		const { error } = this.data.resultData;
		return error ? [error.message, error.description ?? ''].join('\n') : '';
	}

	/** What its next nodes were given: where n8n's Retry would begin. */
	get pending(): Item[] {
		const stack = this.data.executionData?.nodeExecutionStack ?? [];
		return stack.flatMap(({ data }) => data.main?.[0] ?? []);
	}

	/** Whether n8n has kept nothing of it, as it does if the worker dies that runs it. */
	get isForgotten(): boolean {
		const { runData } = this.data.resultData;
		return Object.keys(runData).length === 0 && this.pending.length === 0;
	}

	/** The last node that ran. */
	get lastNode(): string | undefined {
		return this.data.resultData.lastNodeExecuted;
	}

	/** How many runs of a node its run data shows. */
	runs(node: string): number {
		return this.data.resultData.runData[node]?.length ?? 0;
	}

	/** Everything a node put out on its first output; empty if it did not run. */
	items(node: string): Item[] {
		const runs = this.data.resultData.runData[node] ?? [];
		return runs.flatMap((run) => run.data?.main?.[0] ?? []);
	}
}
