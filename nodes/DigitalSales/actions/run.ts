import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { CatalogLookup } from '../api/catalog';
import { Client, type ClientOptions } from '../api/client';
import { ExecutionMemory, type ItemPosition } from '../idempotency/executionMemory';
import type { Listening } from '../n8n/listening';
import { isKept, isRetry } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import { ItemOrder } from '../idempotency/itemOrder';
import type { Situation } from '../output/advice';
import { createdNotes } from '../output/errors';
import { PaymentWait } from '../wait/paymentWait';

/** Gives a hint about a run; those of one kind are summed up, and name what they are about. */
export type Hint = (message: string, kind?: string, about?: string) => void;

/** Items that create something. */
export const ITEMS_AT_ONCE = 4;

/** Of the things that a hint is about. */
const MOST_NAMED = 10;
const LONGEST_HINT = 1_000;

/** What the items of one run share. */
export class Run {
	readonly memory: ExecutionMemory;
	readonly itemOrder: ItemOrder;
	/** Whether the triggers that charges are to notify listen at their URLs; n8n is asked once a run. */
	readonly listening = new Map<string, Promise<Listening>>();
	private lookup?: CatalogLookup;
	/** By kind: the first of it, and what else it is about. */
	private readonly hints = new Map<string, { message: string; about: Set<string> }>();
	private paymentWait?: PaymentWait;

	constructor(
		readonly context: IExecuteFunctions,
		readonly account: Account,
	) {
		this.memory = new ExecutionMemory(context);
		this.itemOrder = new ItemOrder(context);
	}

	/** What this execution waits for. */
	get wait(): PaymentWait {
		return (this.paymentWait ??= new PaymentWait(this.context));
	}

	/** Few runs look anything up. */
	get catalog(): CatalogLookup {
		return (this.lookup ??= new CatalogLookup(this.context, this.account));
	}

	client(options: ClientOptions = {}): Client {
		const { signal } = this.itemOrder;
		return new Client(this.context, this.account, {
			...options,
			signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
			onWait: (endpoint) =>
				this.hint(`The account had reached its rate limit for ${endpoint}, so this run waited.`),
		});
	}

	/**
	 * Gives a hint for the output panel, shown once a run however often it is given.
	 *
	 * @param kind of hints that are summed up, since a run may have thousands of items
	 * @param about what this one is about
	 */
	readonly hint: Hint = (message, kind = message, about = '') => {
		const first = this.hints.get(kind);
		if (first) first.about.add(about);
		else this.hints.set(kind, { message, about: new Set([about]) });
	};

	showHints(): void {
		for (const { message, about } of this.hints.values()) {
			const [, ...others] = about;
			const more = others.length - MOST_NAMED;
			const named = others.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
			const likewise = others.length > 0 ? ` The same applies to ${named}.` : '';
			const text = (message + likewise).slice(0, LONGEST_HINT);
			this.context.addExecutionHints({ message: text, location: 'outputPane' });
		}
	}

	/** What the creation of an item has in common with the others of the run. */
	creating(itemIndex: number) {
		const { context, memory, itemOrder } = this;
		return { context, memory, itemOrder, itemIndex };
	}

	/** n8n keeps nothing of what a canceled node has made, so n8n's log does. */
	logCanceled(): void {
		const { context, memory } = this;
		if (memory.isEmpty || context.getExecutionCancelSignal()?.aborted !== true) return;
		const { name } = context.getNode();
		const what = createdNotes(created(memory)).join(' ');
		context.logger.warn(`Execution ${context.getExecutionId()} was canceled in "${name}". ${what}`);
	}
}

/** What advice about an item depends on. */
export function situationOf(
	context: IExecuteFunctions,
	memory: ExecutionMemory,
	itemIndex: number,
	creates: boolean,
): Situation {
	// What creates nothing leaves nothing in the execution's data.
	const run = creates ? memory.runNumber() : 0;
	const continues = context.continueOnFail();
	const isOther = (where: ItemPosition): boolean => where.run !== run || where.item !== itemIndex;
	return {
		creates,
		isTool: isTool(context),
		continues,
		isCalled: context.getMode() === 'integrated',
		isRetry: isRetry(context),
		isKept: isKept(context),
		hasOthers: context.getInputData().length > 1 || !memory.isEmpty,
		mayExist:
			creates &&
			!isTool(context) &&
			(isRetry(context) || memory.hasAttempt({ run, item: itemIndex })),
		// When a run fails, n8n drops the items of what it created, so the error names them.
		...(creates && !continues && created(memory, isOther)),
	};
}

/** What an execution has created and may have created: "item 0 is abc123". */
function created(memory: ExecutionMemory, isOther = (_where: ItemPosition): boolean => true) {
	return {
		created: memory.listMade().map((made) => `${placeName(made)} is ${made.hash}`),
		inDoubt: memory.listUnresolved().filter(isOther).map(placeName),
	};
}

/** Counts as n8n's editor does: items from 0, as in the heading of an error, and runs from 1. */
function placeName({ run, item }: ItemPosition): string {
	return `${run === 0 ? '' : `run ${run + 1}, `}item ${item}`;
}
