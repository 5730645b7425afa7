import { randomUUID } from 'crypto';
import { compact, memoize, sortBy } from 'lodash';
import type { IContextObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { executionKey, runIndex } from '../n8n';
import { BoundedMap, jsonObject, processState } from '../shared';

export const attemptSchema = z.object({
	/** Owns the attempt's keys in the ledger, except `unresolved`, which `key` owns. */
	id: z.string(),
	/** Unresolved from just before the send until the outcome is known. */
	state: z.enum(['unresolved', 'made']),
	/** The first key of its chain, where the search for it begins. */
	identity: z.string(),
	/** Where it was made, the first of `Found.ends`. */
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
 * By key. The ledger knows only who has a key and, of a charge, its hash.
 *
 * @internal
 */
export const attempts = processState(new BoundedMap<Attempt>({ most: 40_000 }));

/** Whether this process has made the charge, or returned it. */
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
		runs: z.custom<unknown[]>(Array.isArray),
		/** By identity: the run and item that asked for it first. */
		firsts: jsonObject,
		/** By run and item. */
		attempts: jsonObject,
	})
	// A function, because each memory writes to its own object.
	.catch(() => ({ runs: [], firsts: {}, attempts: {} }));

/** The attempts of a node in one execution, by run and item. n8n hands them to a Retry, but a crash loses them. */
export class ExecutionMemory {
	/** The execution and its Retries. Without an execution, the process. */
	readonly origin: string;
	/** This execution alone. */
	readonly execution: string;
	/** The `unresolved` keys that decisions about earlier items of this run will release. */
	readonly decided = new Set<string>();

	/** By subject. */
	private readonly distinct = new Map<string, Set<string>>();
	private readonly nodeContext: IContextObject;
	private stored: z.output<typeof storedSchema>;

	constructor(private readonly context: IExecuteFunctions) {
		// n8n's Agents run a node without a workflow, where `getContext` throws.
		this.nodeContext = context.getWorkflow().id ? context.getContext('node') : {};
		this.stored = storedSchema.parse(this.nodeContext[CONTEXT_KEY]);
		this.origin = executionKey(context) ?? PROCESS_ORIGIN;
		this.execution = context.getExecutionId() || randomUUID();
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

		const index = runIndex(this.context);
		if (!runs.includes(index)) runs.push(index);

		return runs.indexOf(index);
	});

	/** @returns whether the item is the first of the execution to ask for the identity, which is kept for Retries */
	noteFirst(identity: string, itemIndex: number): boolean {
		const own = this.placeOf(itemIndex);
		this.stored.firsts[identity] ??= own;

		return this.stored.firsts[identity] === own;
	}

	/** @returns how many different values have been noted for the subject in this run */
	noteDistinct(subject: string, value: string): number {
		const values = this.distinct.get(subject) ?? new Set();
		this.distinct.set(subject, values.add(value));

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
