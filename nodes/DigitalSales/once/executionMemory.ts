import type { IContextObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import type { Attempt } from '../api/attempt';
import { jsonObject } from '../api/schemas/json';

const CONTEXT_KEY = 'digitalSales';

const storedSchema = z
	.object({
		/** The run indexes that the node had, in the order in which they came up. */
		runs: z.array(z.number()),
		attempts: z.record(
			z.object({
				run: z.number(),
				item: z.number(),
				state: z.enum(['inDoubt', 'made']),
				fingerprint: z.string(),
				amount: z.number().optional(),
				startedAt: z.number(),
				result: jsonObject.optional(),
			}),
		),
	})
	// Made anew each time, since it is written to.
	.catch(() => ({ runs: [], attempts: {} }));

/** Where in an execution something is made; both counted from 0. */
export interface Spot {
	run: number;
	item: number;
}

/**
 * What an execution remembers of a node, in its context: n8n stores it with the execution's data and
 * hands it to a Retry. A crash saves nothing of it.
 */
export class ExecutionMemory {
	private readonly held: IContextObject;
	private readonly stored: z.output<typeof storedSchema>;

	constructor(private readonly context: IExecuteFunctions) {
		// Without a workflow, as in n8n's Agents, there is no such context, and asking for it throws.
		this.held = context.getWorkflow().id ? context.getContext('node') : {};
		this.stored = storedSchema.parse(this.held[CONTEXT_KEY]);
	}

	/**
	 * Which run of the node this is, from 0. n8n's own run index is not enough: its recovery after a
	 * crash counts the interrupted run, so that a Retry of it has the next index.
	 */
	run(): number {
		const index = z.number().parse(this.context.getWorkflowDataProxy(0).$runIndex);
		const { runs } = this.stored;
		if (!runs.includes(index)) runs.push(index);
		this.store();
		return runs.indexOf(index);
	}

	get(place: string): Attempt | undefined {
		return this.stored.attempts[place];
	}

	set(place: string, spot: Spot, attempt: Attempt): void {
		this.stored.attempts[place] = { ...spot, ...attempt };
		this.store();
	}

	delete(place: string): void {
		delete this.stored.attempts[place];
	}

	/** What this run of the node has made, in the order of its items: item and hash. */
	made(): Array<{ item: number; hash: string }> {
		const run = this.run();
		return Object.values(this.stored.attempts)
			.filter((attempt) => attempt.run === run && attempt.state === 'made')
			.map(({ item, result }) => ({ item, hash: String(result?.hash) }))
			.sort((a, b) => a.item - b.item);
	}

	private store(): void {
		this.held[CONTEXT_KEY] = this.stored;
	}
}
