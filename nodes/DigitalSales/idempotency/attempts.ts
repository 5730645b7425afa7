import type { IContextObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { runIndex } from '../n8n/runIndex';
import { BoundedMap, processState } from '../shared/processState';
import { isJsonObject, jsonObject } from '../shared/json';

/** An attempt to create something that may exist only once. */
const attemptSchema = z.object({
	/** In doubt from just before the request leaves until its outcome is known. */
	state: z.enum(['inDoubt', 'made']),
	/** The key of the account in which it was made. */
	account: z.string(),
	/** Who was charged for what; as it was typed, and without prices. */
	fingerprint: z.string(),
	typed: z.string().optional(),
	goods: z.string().optional(),
	/** Who was charged, if anything but a name says so. */
	customer: z.string().optional(),
	/** The same in a few words, to look it up by. */
	about: z.string(),
	orderReference: z.string().optional(),
	/** In milliseconds of unix time. */
	startedAt: z.number(),
	/** The latest turn that was taken until then; 0 if none was. */
	turn: z.number(),
	/** What was made: enough of it to return it again. */
	result: jsonObject.optional(),
	/** Made by another execution, and given to this one. */
	isGiven: z.boolean().optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

/**
 * The attempts that this process knows, by the keys of their identity; those in doubt go last. Orders
 * are kept apart, since one may come again after many executions have taken their places.
 *
 * @internal
 */
export const attempts = { orders: attemptMap(), others: attemptMap() };

function attemptMap(): BoundedMap<Attempt> {
	const isKept = ({ state }: Attempt): boolean => state === 'inDoubt';
	return processState(new BoundedMap({ most: 10_000, isKept }));
}

function mapOf(key: string): BoundedMap<Attempt> {
	return key.startsWith('order') ? attempts.orders : attempts.others;
}

/** What this process knows under a key. */
export function recall(key: string | undefined): Attempt | undefined {
	return key === undefined ? undefined : mapOf(key).get(key);
}

/** Knows an attempt by these keys. */
export function learn(keys: readonly string[], attempt: Attempt): void {
	for (const key of keys) mapOf(key).set(key, attempt);
}

/** Forgets keys. */
export function forget(keys: readonly string[]): void {
	for (const key of keys) mapOf(key).delete(key);
}

const CONTEXT_KEY = 'digitalSales';

/**
 * The attempts themselves are read one by one, when they are asked for: in a loop, each run of the node
 * would else read those of all runs before it.
 */
const storedSchema = z
	.object({
		/** The run indexes of the node so far, in order. */
		runs: z.custom<unknown[]>(Array.isArray),
		attempts: jsonObject,
	})
	// A new object each time, since it is written to.
	.catch(() => ({ runs: [], attempts: {} }));

const storedAttemptSchema = attemptSchema
	.extend({ run: z.number(), item: z.number() })
	.optional()
	.catch(undefined);

/** A position in an execution; both count from 0. */
export interface Where {
	run: number;
	item: number;
}

/**
 * What an execution remembers of a node, in the node's context: n8n stores it with the execution and
 * passes it on to a Retry. A crash loses it.
 */
export class ExecutionMemory {
	private readonly nodeContext: IContextObject;
	private readonly stored: z.output<typeof storedSchema>;
	/** By what they ask for: the position of each item of this run among those that share it. */
	private readonly alike = new Map<string, Map<number, number>>();
	/** By order: the fingerprint of the first item of this run that asks for it. */
	private readonly ordered = new Map<string, string>();

	constructor(private readonly context: IExecuteFunctions) {
		// Without a workflow, as in n8n's Agents, there is no context, and asking for it throws.
		this.nodeContext = context.getWorkflow().id ? context.getContext('node') : {};
		this.stored = storedSchema.parse(this.nodeContext[CONTEXT_KEY]);
	}

	/**
	 * Which run of the node this is, from 0. It is not n8n's run index: after a crash that counts the
	 * interrupted run, so that a Retry of it has the next index.
	 */
	run(): number {
		const index = runIndex(this.context);
		const { runs } = this.stored;
		// From the end, where the present run stands.
		const known = runs.lastIndexOf(index);
		if (known >= 0) return known;
		runs.push(index);
		this.store();
		return runs.length - 1;
	}

	/** How many items of this run came earlier with the same goods. */
	ordinal(goods: string, item: number): number {
		const alike = this.alike.get(goods) ?? new Map<number, number>();
		this.alike.set(goods, alike);
		const before = alike.get(item) ?? alike.size;
		alike.set(item, before);
		return before;
	}

	/** Whether an earlier item of this run asks for something else under the same order. */
	isTaken(order: string, fingerprint: string): boolean {
		const first = this.ordered.get(order) ?? fingerprint;
		this.ordered.set(order, first);
		return first !== fingerprint;
	}

	get(spot: string): Attempt | undefined {
		return storedAttemptSchema.parse(this.stored.attempts[spot]);
	}

	set(spot: string, where: Where, attempt: Attempt): void {
		this.stored.attempts[spot] = { ...where, ...attempt };
		this.store();
	}

	delete(spot: string): void {
		delete this.stored.attempts[spot];
	}

	/** Whether the node has made anything in this execution, or may have. */
	get isEmpty(): boolean {
		return Object.keys(this.stored.attempts).length === 0;
	}

	/** Whether it has made an item, or may have. */
	has(run: number, item: number): boolean {
		return Object.values(this.stored.attempts).some(
			(attempt) => isJsonObject(attempt) && attempt.run === run && attempt.item === item,
		);
	}

	/** Whether a hash is that of another item of this execution. */
	isOfOther(spot: string, hash: string): boolean {
		return Object.keys(this.stored.attempts).some(
			(other) => other !== spot && this.get(other)?.result?.hash === hash,
		);
	}

	/** What the node has made in this execution, in order. */
	made(): Array<Where & { hash: string }> {
		return this.inState('made')
			.filter(({ isGiven }) => isGiven !== true)
			.map(({ run, item, result }) => ({ run, item, hash: String(result?.hash) }));
	}

	/** What the node may have made in this execution, in order. */
	inDoubt(): Where[] {
		return this.inState('inDoubt');
	}

	private inState(wanted: Attempt['state']) {
		return Object.values(this.stored.attempts)
			.flatMap((attempt) => storedAttemptSchema.parse(attempt) ?? [])
			.filter(({ state }) => state === wanted)
			.sort((a, b) => a.run - b.run || a.item - b.item);
	}

	private store(): void {
		this.nodeContext[CONTEXT_KEY] = this.stored;
	}
}
