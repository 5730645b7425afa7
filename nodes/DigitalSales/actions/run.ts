import { compact, memoize, once } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import {
	type Account,
	CatalogLookup,
	CHARGE_LOOKUP_LIMITS,
	Client,
	type ClientOptions,
} from '../api';
import { quoteText } from '../domain';
import { type Attempt, ExecutionMemory } from '../idempotency';
import { askIfListening, isFailureKept, isRetry, isTool } from '../n8n';
import { createdNotes, type Situation } from '../output';

const MOST_NAMED = 10;
const LONGEST_HINT = 1_000;

/** What the items of one run share. */
export class Run {
	readonly isAgentCall: boolean;
	private readonly stopping = new AbortController();
	readonly askIfListening = memoize(async (url: string) => await askIfListening(this.context, url));
	private readonly loadMemory = once(() => new ExecutionMemory(this.context));
	/** By message, with what it is about. */
	private readonly hints = new Map<string, Set<string>>();
	private readonly background: Array<Promise<void>> = [];

	constructor(
		readonly context: IExecuteFunctions,
		readonly account: Account,
	) {
		this.isAgentCall = isTool(context);
	}

	/** Loaded at first use, because a read that succeeds needs none. */
	get memory(): ExecutionMemory {
		return this.loadMemory();
	}

	readonly catalog = once(() => new CatalogLookup(this.newClient(CHARGE_LOOKUP_LIMITS)));

	readonly newClient = (options: ClientOptions = {}): Client => {
		return new Client(this.context, this.account, {
			...options,
			signal: this.newSignal(options.signal),
			onWait: (endpoint) =>
				this.addHint(`The account had reached its rate limit for ${endpoint}, so this run waited.`),
		});
	};

	/** What a creation needs of its run. */
	creationContext(itemIndex: number) {
		const { context, account, isAgentCall, memory, stopOthers, inBackground } = this;
		const signal = this.newSignal();

		return { context, account, isAgentCall, memory, signal, stopOthers, inBackground, itemIndex };
	}

	/** By the first failure. */
	get isStopped(): boolean {
		return this.stopping.signal.aborted;
	}

	/**
	 * After a failure no further item starts, and items that wait are canceled. Requests in flight go on. With On Error:
	 * Continue, only canceling the execution stops other items.
	 */
	readonly stopOthers = (): void => {
		if (!this.context.continueOnFail()) this.stopping.abort();
	};

	/** Node.js warns of more than ten listeners on one signal. */
	private newSignal(more?: AbortSignal): AbortSignal {
		const canceled = this.context.getExecutionCancelSignal();
		return AbortSignal.any(compact([canceled, this.stopping.signal, more]));
	}

	/**
	 * Equal messages become one hint, because a run may have thousands of items.
	 *
	 * @param about the subject of the message, for example a transaction
	 */
	readonly addHint = (message: string, about?: string): void => {
		const subjects = this.hints.get(message) ?? new Set();
		this.hints.set(message, subjects);
		if (about !== undefined) subjects.add(quoteText(about));
	};

	/** @param task must not reject */
	readonly inBackground = (task: Promise<void>): void => {
		this.background.push(task);
	};

	/** Waits for what goes on in the background, and tells the person who looks at the run. */
	async finish(): Promise<void> {
		await Promise.all(this.background);

		for (const [message, subjects] of this.hints) {
			const named = [...subjects].slice(0, MOST_NAMED);
			const more = subjects.size > MOST_NAMED ? ` and ${subjects.size - MOST_NAMED} more` : '';
			const text = named.length === 0 ? message : `${named.join(', ')}${more}: ${message}`;
			const hint = { message: text.slice(0, LONGEST_HINT), location: 'outputPane' } as const;
			this.context.addExecutionHints(hint);
		}

		const isCanceled = this.context.getExecutionCancelSignal()?.aborted === true;
		if (isCanceled && this.memory.list().length > 0) this.logCreated();
	}

	/** n8n drops the output of a canceled node, so the log lists what the node has created. */
	private logCreated(): void {
		const execution = `Execution ${this.context.getExecutionId()}`;
		const { name } = this.context.getNode();
		const notes = createdNotes(listCreated(this.memory)).join(' ');

		this.context.logger.warn(`${execution} was canceled in "${name}". ${notes}`);
	}
}

export function buildSituation(
	context: IExecuteFunctions,
	memory: ExecutionMemory,
	itemIndex: number,
	creates: boolean,
): Situation {
	// `runNumber` writes to the execution's data, which only creations need.
	const run = creates ? memory.runNumber() : 0;
	const continues = context.continueOnFail();
	const attempts = memory.list();
	const isOwn = (one: Attempt): boolean => one.run === run && one.item === itemIndex;
	const mayList = creates && !isTool(context);

	return {
		creates,
		isTool: isTool(context),
		continues,
		isCalled: context.getMode() === 'integrated',
		isRetry: isRetry(context),
		isKept: isFailureKept(context),
		hasOthers: context.getInputData().length > 1 || attempts.length > 0,
		mayExist: mayList && (isRetry(context) || attempts.some(isOwn)),
		// n8n drops the output of a run that fails, so the error lists what the run has created, but not to a model.
		...(mayList && !continues && listCreated(memory, isOwn)),
	};
}

/** For example "item 0 is abc123", or "item 1" if its outcome is unknown. */
function listCreated(memory: ExecutionMemory, isOwn = (_one: Attempt) => false) {
	const attempts = memory.list();
	const made = attempts.filter((one) => one.state === 'made' && memory.isFor(one));
	const unresolved = attempts.filter((one) => one.state === 'unresolved' && !isOwn(one));

	return {
		created: made.map((one) => `${describePlace(one)} is ${String(one.result?.hash)}`),
		inDoubt: unresolved.map(describePlace),
	};
}

/** n8n's editor counts items from 0 and runs from 1. */
function describePlace({ run, item }: Attempt): string {
	return run === 0 ? `item ${item}` : `run ${run + 1}, item ${item}`;
}
