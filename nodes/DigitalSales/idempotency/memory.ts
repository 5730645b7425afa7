import { randomUUID } from 'crypto';
import { compact, sortBy } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { executionKey, NodeMemory } from '../n8n';
import { BoundedMap, jsonObject, processState } from '../shared';

export const attemptSchema = z.object({
	/** Owns the attempt's identity in the ledger. */
	id: z.string(),
	/** Unresolved from just before the send until the outcome is known. */
	state: z.enum(['unresolved', 'made']),
	/** The first key of its chain. */
	identity: z.string(),
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
 * By key. Only a cache of what n8n's database knows, except where there is no ledger.
 *
 * @internal
 */
export const attempts = processState(
	new BoundedMap<Attempt>({ most: 40_000, isKept: ({ state }) => state === 'unresolved' }),
);

export function isChargeKnown(hash: string): boolean {
	return attempts.some(({ result }) => result?.hash === hash);
}

export function hashOf({ result }: Pick<Attempt, 'result'>): string {
	return String(result?.hash);
}

const PROCESS_ORIGIN = randomUUID();

/** Attempts are parsed when needed, or each round of a loop would parse all earlier attempts. */
const storedSchema = attemptSchema.optional().catch(undefined);

/** The attempts of a node in one execution, by run and item. n8n hands them to a Retry, but a crash loses them. */
export class ExecutionMemory extends NodeMemory {
	/** The execution and its Retries. Without an execution, the process. */
	readonly origin: string;
	/** This execution alone. */
	readonly execution: string;
	/** By order: the fingerprint of its first item in this run. */
	private readonly orders = new Map<string, string>();
	/** The `unresolved` keys that decisions about earlier items of this run will release. */
	readonly decided = new Set<string>();

	constructor(context: IExecuteFunctions) {
		super(context);
		this.origin = executionKey(context) ?? PROCESS_ORIGIN;
		this.execution = context.getExecutionId() || randomUUID();
	}

	/** Whether no earlier item of the execution has asked for the identity. */
	isFirst(identity: string, itemIndex: number): boolean {
		const own = this.placeOf(itemIndex);
		this.firsts[identity] ??= own;

		return this.firsts[identity] === own;
	}

	/** @returns false if another item of this run has the order for something else */
	reserveOrder(identity: string, fingerprint: string): boolean {
		const first = this.orders.get(identity) ?? fingerprint;
		this.orders.set(identity, first);

		return first === fingerprint;
	}

	/** What the item has got or attempted. Not the charge of an earlier equal item: this one, if corrected, is charged. */
	get(itemIndex: number): Attempt | undefined {
		const own = storedSchema.parse(this.attempts[this.placeOf(itemIndex)]);
		const isOfEqualItem = own?.origin === this.origin && !this.isFor(own);

		return isOfEqualItem ? undefined : own;
	}

	/** @param attempt missing after a request that was not processed */
	set(item: number, attempt: Attempt | undefined): void {
		const place = this.placeOf(item);
		if (attempt) this.attempts[place] = { ...attempt, run: this.runNumber(), item };
		else delete this.attempts[place];
	}

	/** What each item has got or attempted. */
	list(): Attempt[] {
		const attempts = Object.values(this.attempts).map((attempt) => storedSchema.parse(attempt));

		return sortBy(compact(attempts), ['run', 'item']);
	}

	/** Whether this execution attempted it for this very item. */
	isFor({ origin, identity, run, item }: Attempt): boolean {
		return origin === this.origin && this.firsts[identity] === `${run} ${item}`;
	}

	private placeOf(itemIndex: number): string {
		return `${this.runNumber()} ${itemIndex}`;
	}
}
