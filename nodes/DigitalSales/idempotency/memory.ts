import { randomUUID } from 'crypto';
import { compact, memoize, sortBy } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { executionKey, runIndex } from '../n8n';
import { BoundedMap, jsonObject, processState } from '../shared';

const attemptSchema = z.object({
	/** Owns `key`, the other keys of `Found.ends` and the `again` keys in the ledger. */
	id: z.string(),
	/** Unresolved from just before the send until the outcome is known. */
	state: z.enum(['unresolved', 'made']),
	/** The first key of its chain, where other items and executions begin to search for it. */
	identity: z.string(),
	/** Where it was made. Owns `unresolved`. */
	key: z.string(),
	fingerprint: z.string(),
	customer: z.string().optional(),
	origin: z.string(),
	orderReference: z.string().optional(),
	about: z.string(),
	/** Unix time in milliseconds. */
	startedAt: z.number(),
	/** Of the execution. Both count from 0. */
	run: z.number(),
	item: z.number(),
	/** The fields that `readAgain` needs. */
	result: jsonObject.optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

/**
 * By each key of `Found.ends` and, in doubt, also by `unresolved` and the `again` keys. The ledger knows only who has a key
 * and, of a charge, its hash.
 *
 * @internal
 */
export const attempts = processState(new BoundedMap<Attempt>({ most: 40_000 }));

/** Whether this process has made the charge, or a decision or an added reference has found it here. */
export function isChargeKnown(hash: string): boolean {
	return attempts.some(({ result }) => result?.hash === hash);
}

export function hashOf({ result }: Pick<Attempt, 'result'>): string {
	return String(result?.hash);
}

const PROCESS_ORIGIN = randomUUID();

/** Attempts are parsed when needed, or each round of a loop would parse all earlier attempts. */
const storedAttempt = attemptSchema.optional().catch(undefined);

const CONTEXT_KEY = 'digitalSales';

const storedSchema = z
	.object({
		/** By identity: the run and item that asked for it first. */
		firsts: jsonObject,
		/** By run and item. */
		attempts: jsonObject,
	})
	// A function, because each memory writes to its own object.
	.catch(() => ({ firsts: {}, attempts: {} }));

/** The attempts of a node in one execution, by run and item. n8n hands them to a Retry, but a crash loses them. */
export class ExecutionMemory {
	/** The execution and its Retries. Without an execution, the process. */
	readonly origin: string;
	/** Owner of a `told` key. A Retry has its own. */
	readonly executionId: string;
	/** The fingerprints whose `unresolved` key a decision about an earlier item of this run will release. */
	readonly releasedAhead = new Set<string>();

	/** By topic. */
	private readonly distinct = new Map<string, Set<string>>();
	private readonly stored: z.output<typeof storedSchema>;

	constructor(private readonly context: IExecuteFunctions) {
		// n8n's Agents run a node without a workflow, where `getContext` throws.
		const nodeContext = context.getWorkflow().id ? context.getContext('node') : {};
		// Parsing does not copy what is inside, so calls of a tool that run at once write to the same data.
		this.stored = storedSchema.parse(nodeContext[CONTEXT_KEY]);
		nodeContext[CONTEXT_KEY] = this.stored;
		this.origin = executionKey(context) ?? PROCESS_ORIGIN;
		this.executionId = context.getExecutionId() || randomUUID();
	}

	/** Counts from 0. Not lodash's `once`, which returns undefined after a call that threw. */
	readonly runNumber = memoize((): number => runIndex(this.context));

	/** @returns whether the item is the first of the execution to ask for the identity, which is kept for Retries */
	noteFirst(identity: string, itemIndex: number): boolean {
		const own = this.placeOf(itemIndex);
		this.stored.firsts[identity] ??= own;

		return this.stored.firsts[identity] === own;
	}

	/** @returns how many different values have been noted for the topic in this run */
	noteDistinct(topic: string, value: string): number {
		const values = this.distinct.get(topic) ?? new Set();
		this.distinct.set(topic, values.add(value));

		return values.size;
	}

	/**
	 * What the item has got or attempted. Not a charge that it got because an earlier item was equal: if this item is
	 * corrected for a Retry, it is charged, too.
	 */
	get(itemIndex: number): Attempt | undefined {
		const own = storedAttempt.parse(this.stored.attempts[this.placeOf(itemIndex)]);
		const isOfEqualItem = own?.origin === this.origin && !this.isFor(own);

		return isOfEqualItem ? undefined : own;
	}

	/** What the first item that asked for the identity has got or attempted, perhaps of another identity. */
	getFirst(identity: string): Attempt | undefined {
		return storedAttempt.parse(this.stored.attempts[String(this.stored.firsts[identity])]);
	}

	/** @param attempt missing if the item has neither got nor attempted anything */
	set(item: number, attempt: Attempt | undefined): void {
		const place = this.placeOf(item);
		if (attempt) this.stored.attempts[place] = { ...attempt, run: this.runNumber(), item };
		else delete this.stored.attempts[place];
	}

	/** What each item has got or attempted, also as an equal item. */
	list(): Attempt[] {
		const parsed = Object.values(this.stored.attempts).map((stored) => storedAttempt.parse(stored));
		return sortBy(compact(parsed), ['run', 'item']);
	}

	/** Whether this execution, or one that it retries, attempted it for the very item that has it, not for an equal one. */
	isFor({ origin, identity, run, item }: Attempt): boolean {
		return origin === this.origin && this.stored.firsts[identity] === `${run} ${item}`;
	}

	private placeOf(itemIndex: number): string {
		return `${this.runNumber()} ${itemIndex}`;
	}
}
