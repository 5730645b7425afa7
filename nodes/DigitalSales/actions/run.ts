import { compact, memoize } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import {
	type Account,
	CatalogLookup,
	CHARGE_LOOKUP_LIMITS,
	Client,
	type ClientOptions,
} from '../api';
import { quoteText } from '../domain';
import { ExecutionMemory, type StoredAttempt } from '../idempotency';
import { askIfListening, isFailureKept, isRetry, isTool } from '../n8n';
import { createdNotes, type Situation } from '../output';
import { ItemOrder } from './itemOrder';

export const CREATIONS_AT_ONCE = 4;

const MOST_NAMED = 10;
const LONGEST_HINT = 1_000;

/** What the items of one run share. */
export class Run {
	readonly isAgentCall: boolean;
	readonly memory: ExecutionMemory;
	readonly itemOrder: ItemOrder;
	readonly askIfListening = memoize(async (url: string) => await askIfListening(this.context, url));
	private catalogLookup?: CatalogLookup;
	/** By message, with what it is about. */
	private readonly hints = new Map<string, Set<string>>();
	private readonly background: Array<Promise<void>> = [];

	constructor(
		readonly context: IExecuteFunctions,
		readonly account: Account,
	) {
		this.isAgentCall = isTool(context);
		this.memory = new ExecutionMemory(context);
		this.itemOrder = new ItemOrder(context);
	}

	get catalog(): CatalogLookup {
		const signal = this.context.getExecutionCancelSignal();
		const options = { ...CHARGE_LOOKUP_LIMITS, signal };
		return (this.catalogLookup ??= new CatalogLookup(
			new Client(this.context, this.account, options),
		));
	}

	newClient(options: ClientOptions = {}): Client {
		const canceled = this.context.getExecutionCancelSignal();
		return new Client(this.context, this.account, {
			...options,
			// A new signal, because Node.js warns of more than ten listeners on one.
			signal: AbortSignal.any(compact([canceled, this.itemOrder.stopped, options.signal])),
			onWait: (endpoint) =>
				this.addHint(`The account had reached its rate limit for ${endpoint}, so this run waited.`),
		});
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

	showHints(): void {
		for (const [message, subjects] of this.hints) {
			const named = [...subjects].slice(0, MOST_NAMED).join(', ');
			const more = subjects.size > MOST_NAMED ? ` and ${subjects.size - MOST_NAMED} more` : '';
			const text = named === '' ? message : `${named}${more}: ${message}`;

			this.context.addExecutionHints({
				message: text.slice(0, LONGEST_HINT),
				location: 'outputPane',
			});
		}
	}

	/** @param task must not reject */
	readonly inBackground = (task: Promise<void>): void => {
		this.background.push(task);
	};

	async finishBackground(): Promise<void> {
		await Promise.all(this.background);
	}

	creationContext(itemIndex: number) {
		const { context, isAgentCall, memory, itemOrder, inBackground } = this;

		return { context, isAgentCall, memory, itemOrder, inBackground, itemIndex };
	}

	/** n8n drops the output of a canceled node, so the log lists what the node has created. */
	logCanceled(): void {
		const { context, memory } = this;
		if (context.getExecutionCancelSignal()?.aborted !== true || memory.list().length === 0) return;
		const { name } = context.getNode();
		const notes = createdNotes(listCreated(memory)).join(' ');
		context.logger.warn(
			`Execution ${context.getExecutionId()} was canceled in "${name}". ${notes}`,
		);
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
	const isOtherItem = (other: StoredAttempt): boolean =>
		other.run !== run || other.item !== itemIndex;

	return {
		creates,
		isTool: isTool(context),
		continues,
		isCalled: context.getMode() === 'integrated',
		isRetry: isRetry(context),
		isKept: isFailureKept(context),
		hasOthers: context.getInputData().length > 1 || attempts.length > 0,
		mayExist: creates && !isTool(context) && (isRetry(context) || !attempts.every(isOtherItem)),
		// n8n drops the output of a run that fails, so the error lists what the run has created, but not to a model.
		...(creates && !continues && !isTool(context) && listCreated(memory, isOtherItem)),
	};
}

/** For example "item 0 is abc123", or "item 1" if its outcome is unknown. */
function listCreated(memory: ExecutionMemory, isListedInDoubt = (_other: StoredAttempt) => true) {
	const attempts = memory.list();
	const made = attempts.filter((one) => one.state === 'made' && memory.isFor(one));
	const unresolved = attempts.filter(({ state }) => state === 'unresolved');

	return {
		created: made.map((one) => `${describePlace(one)} is ${String(one.result?.hash)}`),
		inDoubt: unresolved.filter(isListedInDoubt).map(describePlace),
	};
}

/** n8n's editor counts items from 0 and runs from 1. */
function describePlace({ run, item }: StoredAttempt): string {
	return `${run === 0 ? '' : `run ${run + 1}, `}item ${item}`;
}
