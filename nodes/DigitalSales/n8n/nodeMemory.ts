import { memoize } from 'lodash';
import type { IContextObject, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { jsonObject } from '../shared';

/*
 * Since n8n 2.30.0, `$runIndex` counts the runs of a node in an execution. If that stops, Create PIX fails before
 * anything is sent.
 */

const CONTEXT_KEY = 'digitalSales';

const storedSchema = z
	.object({ runs: z.custom<unknown[]>(Array.isArray), firsts: jsonObject, attempts: jsonObject })
	// A function, because each memory writes to its own object.
	.catch(() => ({ runs: [], firsts: {}, attempts: {} }));

/** What a node keeps during an execution. n8n hands it to a Retry, but a crash loses it. */
export class NodeMemory {
	private readonly nodeContext: IContextObject;
	private stored: z.output<typeof storedSchema>;

	constructor(private readonly context: IExecuteFunctions) {
		// n8n's Agents run a node without a workflow, where `getContext` throws.
		this.nodeContext = context.getWorkflow().id ? context.getContext('node') : {};
		this.stored = storedSchema.parse(this.nodeContext[CONTEXT_KEY]);
	}

	/**
	 * Counts from 0. Unlike n8n's run index, does not count a run that crashed. Not lodash's `once`, which returns undefined
	 * after a call that threw.
	 */
	readonly runNumber = memoize((): number => {
		// Every write asks for the number first. Calls of a tool that run at once then write to the same data.
		this.stored = storedSchema.parse(this.nodeContext[CONTEXT_KEY]);
		this.nodeContext[CONTEXT_KEY] = this.stored;
		const { runs } = this.stored;

		const index = z.number().parse(this.context.getWorkflowDataProxy(0).$runIndex);
		if (!runs.includes(index)) runs.push(index);

		return runs.lastIndexOf(index);
	});

	/** By run and item. */
	get attempts(): IDataObject {
		return this.stored.attempts;
	}

	/** By identity: the run and item that asked for it first. */
	get firsts(): IDataObject {
		return this.stored.firsts;
	}
}
