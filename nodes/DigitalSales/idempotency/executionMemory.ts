import { find, memoize, omit, pickBy, some } from 'lodash';
import type { IContextObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { readRunIndex } from '../n8n';
import { jsonObject } from '../shared';
import { attemptSchema, type Attempt } from './attempts';

const CONTEXT_KEY = 'digitalSales';

/** Attempts are parsed when needed, or each iteration of a loop would parse all earlier attempts. */
const storedSchema = z
	.object({
		runs: z.custom<unknown[]>(Array.isArray),
		attempts: jsonObject,
		/** By fingerprint and number: the run that returned a result. */
		returned: jsonObject,
	})
	// A function, because each memory writes to its own object.
	.catch(() => ({ runs: [], attempts: {}, returned: {} }));

const returnedSchema = z.record(z.number()).catch({});

const storedAttemptSchema = attemptSchema
	.extend({ run: z.number(), item: z.number() })
	.optional()
	.catch(undefined);

/** Both numbers count from 0. */
export interface RunItem {
	run: number;
	item: number;
}

export interface ItemNumber {
	fingerprint: string;
	/** Among the execution's items with it. Counts from 0. */
	number: number;
}

/** n8n's editor counts items from 0 and runs from 1. */
export function describeRunItem({ run, item }: RunItem): string {
	return `${run === 0 ? '' : `run ${run + 1}, `}item ${item}`;
}

/** The attempts of a node in one execution. n8n hands the node's context to a Retry, but a crash loses it. */
export class ExecutionMemory {
	private readonly nodeContext: IContextObject;
	private stored: z.output<typeof storedSchema>;
	/** By fingerprint, for the next item of this run. */
	private readonly nextNumbers = new Map<string, number>();
	private readonly reservedKeys = new Set<string>();
	/** By order key: the fingerprint of the first item. */
	private readonly orderFingerprints = new Map<string, string>();

	constructor(private readonly context: IExecuteFunctions) {
		// n8n's Agents run a node without a workflow, where `getContext` throws.
		this.nodeContext = context.getWorkflow().id ? context.getContext('node') : {};
		this.stored = storedSchema.parse(this.nodeContext[CONTEXT_KEY]);
	}

	/** Counts from 0. Unlike n8n's run index, does not count a run that crashed. */
	readonly runNumber = memoize((): number => {
		// Every write asks for the number first. Calls of a tool that run at once then write to the same data.
		this.stored = storedSchema.parse(this.nodeContext[CONTEXT_KEY]);
		this.nodeContext[CONTEXT_KEY] = this.stored;
		const index = readRunIndex(this.context);
		const { runs } = this.stored;
		if (!runs.includes(index)) runs.push(index);
		return runs.lastIndexOf(index);
	});

	/**
	 * Numbers the items of equal fingerprint through all runs, because after a crash a Retry may process an item in another
	 * run. If an item returns no result, its number is free again, because an error output may lead back to the node.
	 */
	numberItem(fingerprints: readonly string[]): ItemNumber[] {
		const run = this.runNumber();
		const numbers: ItemNumber[] = [];
		for (const fingerprint of fingerprints) {
			const byNumber = returnedSchema.parse(this.stored.returned[fingerprint]);
			const earlier = pickBy(byNumber, (ofRun) => ofRun !== run);
			let number = this.nextNumbers.get(fingerprint) ?? 0;
			// A new try of this run frees the numbers of its last try.
			if (number === 0) this.stored.returned[fingerprint] = earlier;
			while (number in earlier) number++;
			this.nextNumbers.set(fingerprint, number + 1);
			numbers.push({ fingerprint, number });
		}
		return numbers;
	}

	markReturned(itemNumbers: readonly ItemNumber[]): void {
		for (const { fingerprint, number } of itemNumbers) {
			const byNumber = returnedSchema.parse(this.stored.returned[fingerprint]);
			this.stored.returned[fingerprint] = { ...byNumber, [number]: this.runNumber() };
		}
	}

	/** Keys of a hash that an item will use, or of doubts that it will end. The check of later items ignores them. */
	reserveKeys(keys: readonly string[]): void {
		for (const key of keys) this.reservedKeys.add(key);
	}

	areReserved(keys: readonly string[]): boolean {
		return keys.length > 0 && keys.every((key) => this.reservedKeys.has(key));
	}

	reserveOrder(orderKey: string, fingerprint: string): boolean {
		const first = this.orderFingerprints.get(orderKey) ?? fingerprint;
		this.orderFingerprints.set(orderKey, first);
		return first === fingerprint;
	}

	getAttempt(itemKey: string): Attempt | undefined {
		return storedAttemptSchema.parse(this.stored.attempts[itemKey]);
	}

	storeAttempt(itemKey: string, itemIndex: number, attempt: Attempt): void {
		this.stored.attempts[itemKey] = { run: this.runNumber(), item: itemIndex, ...attempt };
	}

	deleteAttempt(itemKey: string): void {
		delete this.stored.attempts[itemKey];
	}

	get isEmpty(): boolean {
		return Object.keys(this.stored.attempts).length === 0;
	}

	hasAttempt({ run, item }: RunItem): boolean {
		return some(this.stored.attempts, { run, item });
	}

	findOtherItem(itemKey: string, hash: string): RunItem | undefined {
		const others = omit(this.stored.attempts, itemKey);
		return storedAttemptSchema.parse(find(others, ['result.hash', hash]));
	}

	listAttempts(): Array<Attempt & RunItem> {
		return Object.values(this.stored.attempts)
			.flatMap((attempt) => storedAttemptSchema.parse(attempt) ?? [])
			.sort((a, b) => a.run - b.run || a.item - b.item);
	}
}
