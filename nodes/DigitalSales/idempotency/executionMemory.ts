import sum from 'lodash/sum';
import type { IContextObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { readRunIndex } from '../n8n/runIndex';
import { isJsonObject, jsonObject } from '../shared/json';
import { attemptSchema, type Attempt } from './attempts';

const CONTEXT_KEY = 'digitalSales';

/** Attempts are parsed one by one when needed. Otherwise every iteration of a loop would parse all earlier ones. */
const storedSchema = z
	.object({
		/** The run indexes of the node so far, in order. */
		runs: z.custom<unknown[]>(Array.isArray),
		attempts: jsonObject,
		/** By goods: how many items of each run have these goods. */
		alike: jsonObject,
	})
	// A function, because each memory writes to its own object.
	.catch(() => ({ runs: [], attempts: {}, alike: {} }));

const alikeSchema = z.record(z.number()).catch({});

const storedAttemptSchema = attemptSchema
	.extend({ run: z.number(), item: z.number() })
	.optional()
	.catch(undefined);

/** Both numbers count from 0. */
export interface ItemPosition {
	run: number;
	item: number;
}

/**
 * The attempts of a node in one execution, stored in the node's context. n8n keeps the context with the execution and
 * hands it to a Retry. A crash loses it.
 */
export class ExecutionMemory {
	private readonly nodeContext: IContextObject;
	private readonly stored: z.output<typeof storedSchema>;
	/** By goods: how many earlier items of this run have the same goods, by item index. */
	private readonly alike = new Map<string, Map<number, number>>();
	/** By order key: the fingerprint of the first item of this run with that order. */
	private readonly fingerprints = new Map<string, string>();

	constructor(private readonly context: IExecuteFunctions) {
		// n8n's Agents run a node without a workflow, where `getContext` throws.
		this.nodeContext = context.getWorkflow().id ? context.getContext('node') : {};
		this.stored = storedSchema.parse(this.nodeContext[CONTEXT_KEY]);
	}

	/** Counts the runs of the node from 0. n8n's run index counts a run that crashed, too, so its Retry has the next index. */
	runNumber(): number {
		const index = readRunIndex(this.context);
		const { runs } = this.stored;
		// The current run is usually the last one.
		const known = runs.lastIndexOf(index);
		if (known >= 0) return known;
		runs.push(index);
		this.saveToContext();
		return runs.length - 1;
	}

	/** Counts the earlier items of the execution with the same goods. After a crash, an item may come in another run. */
	countEarlierAlike(goods: string, item: number): number {
		const run = this.runNumber();
		const alike = this.alike.get(goods) ?? new Map<number, number>();
		this.alike.set(goods, alike);
		const count = alike.get(item) ?? alike.size;
		alike.set(item, count);
		const byRun = alikeSchema.parse(this.stored.alike[goods]);
		this.stored.alike[goods] = { ...byRun, [run]: alike.size };
		this.saveToContext();
		const earlier = Object.entries(byRun).map(([one, size]) => (Number(one) < run ? size : 0));
		return sum(earlier) + count;
	}

	/** Whether an earlier item of this run has the same order and another request. */
	hasOtherRequest(orderKey: string, fingerprint: string): boolean {
		const first = this.fingerprints.get(orderKey) ?? fingerprint;
		this.fingerprints.set(orderKey, first);
		return first !== fingerprint;
	}

	getAttempt(itemKey: string): Attempt | undefined {
		return storedAttemptSchema.parse(this.stored.attempts[itemKey]);
	}

	storeAttempt(itemKey: string, itemIndex: number, attempt: Attempt): void {
		this.stored.attempts[itemKey] = { run: this.runNumber(), item: itemIndex, ...attempt };
		this.saveToContext();
	}

	deleteAttempt(itemKey: string): void {
		delete this.stored.attempts[itemKey];
	}

	/** Whether the node has made nothing in this execution, and may have made nothing. */
	get isEmpty(): boolean {
		return Object.keys(this.stored.attempts).length === 0;
	}

	/** Whether the node has made something for an item, or may have. */
	hasAttempt({ run, item }: ItemPosition): boolean {
		return Object.values(this.stored.attempts).some(
			(attempt) => isJsonObject(attempt) && attempt.run === run && attempt.item === item,
		);
	}

	isHashOfOtherItem(itemKey: string, hash: string): boolean {
		return Object.keys(this.stored.attempts).some(
			(other) => other !== itemKey && this.getAttempt(other)?.result?.hash === hash,
		);
	}

	/** Lists what the node has made in this execution, in order. */
	listMade(): Array<ItemPosition & { hash: string }> {
		return this.listInState('made')
			.filter(({ isReplay }) => isReplay !== true)
			.map(({ run, item, result }) => ({ run, item, hash: String(result?.hash) }));
	}

	/** Lists what the node may have made in this execution, in order. */
	listUnresolved(): ItemPosition[] {
		return this.listInState('unresolved');
	}

	private listInState(wanted: Attempt['state']) {
		return Object.values(this.stored.attempts)
			.flatMap((attempt) => storedAttemptSchema.parse(attempt) ?? [])
			.filter(({ state }) => state === wanted)
			.sort((a, b) => a.run - b.run || a.item - b.item);
	}

	private saveToContext(): void {
		this.nodeContext[CONTEXT_KEY] = this.stored;
	}
}
