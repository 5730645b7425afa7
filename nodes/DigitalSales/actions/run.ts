import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { CatalogLookup } from '../api/catalog';
import { Client, type ClientOptions } from '../api/client';
import type { DecidingStep } from '../once/createOnce';
import { ServiceError } from '../api/outcome';
import { ExecutionMemory, type Where } from '../once/memory';
import type { Listening } from '../n8n/listening';
import { CanceledError } from '../shared/clock';
import { PaymentWait } from '../wait/paymentWait';

/** Gives a hint about a run; those of one kind are summed up, and name what they are about. */
export type Hint = (message: string, kind?: string, about?: string) => void;

/** Items that create something. */
export const ITEMS_AT_ONCE = 4;
/** Items that are one read each. */
export const READS_AT_ONCE = 64;

/** Of the things that a hint is about. */
const MOST_NAMED = 10;
const LONGEST_HINT = 1_000;

/** What the items of one run share. */
export class Run {
	readonly memory: ExecutionMemory;
	readonly catalog: CatalogLookup;
	/** Whether the triggers that charges are to notify listen at their URLs; n8n is asked once a run. */
	readonly listening = new Map<string, Promise<Listening>>();
	private readonly stopping = new AbortController();
	/** By kind: the first of it, and what else it is about. */
	private readonly hints = new Map<string, { message: string; about: Set<string> }>();
	private hasFailed = false;
	private paymentWait?: PaymentWait;
	private readonly lastTurns: Record<DecidingStep, Promise<unknown>> = {
		look: Promise.resolve(),
		record: Promise.resolve(),
	};

	constructor(
		readonly context: IExecuteFunctions,
		readonly account: Account,
	) {
		this.memory = new ExecutionMemory(context);
		this.catalog = new CatalogLookup(context, account);
	}

	/** What this execution waits for. */
	get wait(): PaymentWait {
		return (this.paymentWait ??= new PaymentWait(this.context));
	}

	/**
	 * Cancels waiting, when the execution is canceled or the run stops. Each time a signal of its own:
	 * Node.js warns of more than ten listeners on one.
	 */
	get signal(): AbortSignal {
		const canceled = this.context.getExecutionCancelSignal();
		const stopped = this.stopping.signal;
		return AbortSignal.any(canceled ? [canceled, stopped] : [stopped]);
	}

	client(options: ClientOptions = {}): Client {
		const { signal } = this;
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

	/**
	 * Runs a step of what decides whether an item may be sent, one item after the other. Where a refusal
	 * ends the run, the items behind it have no turn, as if they had been sent one by one.
	 *
	 * @throws CanceledError if an earlier item was refused and the run stops
	 */
	readonly oneByOne = async <T>(step: DecidingStep, decide: () => Promise<T>): Promise<T> => {
		const turn = this.lastTurns[step].then(decide, () => {
			throw new CanceledError();
		});
		this.lastTurns[step] = this.context.continueOnFail() ? turn.catch(() => undefined) : turn;
		return await turn;
	};

	/** What decides whether an item may create something, as far as the run knows. */
	deciding(itemIndex: number) {
		const { context, memory, signal, oneByOne, isOver } = this;
		return { context, memory, signal, oneByOne, isOver, itemIndex };
	}

	/** Sends nothing new; what is under way goes on. */
	stop(): void {
		this.stopping.abort();
	}

	/** Awaits a request that creates something. If it fails, the run stops before that is recorded. */
	async creating<T>(request: Promise<T>): Promise<T> {
		return await request.catch((error: unknown) => {
			if (!this.context.continueOnFail()) {
				this.hasFailed ||= error instanceof ServiceError;
				this.stop();
			}
			throw error;
		});
	}

	/** Whether nothing more is sent, not even of the items before the one that has ended the run. */
	readonly isOver = (): boolean =>
		this.hasFailed || this.context.getExecutionCancelSignal()?.aborted === true;

	get isStopped(): boolean {
		return this.stopping.signal.aborted;
	}

	/** What this execution has made so far, for errors: "item 1 is abc123". */
	created(): string[] {
		return this.memory.made().map(({ hash, ...where }) => `${placeName(where)} is ${hash}`);
	}

	/** What it may have made, besides the item of the error. */
	inDoubt(itemIndex: number): string[] {
		const run = this.memory.run();
		const others = this.memory
			.inDoubt()
			.filter((where) => where.run !== run || where.item !== itemIndex);
		return others.map(placeName);
	}
}

/** Runs and items count from 1; most nodes run once. */
function placeName({ run, item }: Where): string {
	return `${run === 0 ? '' : `run ${run + 1}, `}item ${item + 1}`;
}
