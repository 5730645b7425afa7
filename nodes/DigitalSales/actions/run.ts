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
import { ExecutionMemory } from '../idempotency';
import { askIfListening } from '../n8n';

const MOST_NAMED = 10;

/** What the items of one run share. */
export class Run {
	private readonly stopping = new AbortController();
	/** By the first failure. */
	readonly stopped = this.stopping.signal;
	/** Loaded at first use, because a read needs none. */
	private readonly loadMemory = memoize(() => new ExecutionMemory(this.context));
	/** By message, with what it is about. */
	private readonly hints = new Map<string, Set<string>>();
	private readonly background: Array<Promise<void>> = [];

	constructor(
		readonly context: IExecuteFunctions,
		readonly account: Account,
		readonly isAgentCall: boolean,
	) {}

	readonly catalog = once(() => new CatalogLookup(this.newClient(CHARGE_LOOKUP_LIMITS)));

	readonly askIfListening = memoize(async (url: string) => await askIfListening(this.context, url));

	readonly newClient = (options: ClientOptions = {}): Client =>
		new Client(this.context, this.account, {
			...options,
			signal: this.newSignal(),
			onWait: (endpoint) =>
				this.addHint(`The account had reached its rate limit for ${endpoint}, so this run waited.`),
		});

	/** What a creation needs of its run. */
	creationContext(itemIndex: number) {
		const { context, account, isAgentCall, stopOthers, inBackground } = this;
		const [signal, memory] = [this.newSignal(), this.loadMemory()];

		return { context, account, isAgentCall, memory, signal, stopOthers, inBackground, itemIndex };
	}

	/**
	 * After a failure no further item starts, and items that wait are canceled. Requests in flight go on. With On Error:
	 * Continue, only canceling the execution stops other items.
	 */
	readonly stopOthers = (): void => {
		if (!this.context.continueOnFail()) this.stopping.abort();
	};

	/** Node.js warns of more than ten listeners on one signal. */
	private newSignal(): AbortSignal {
		const canceled = this.context.getExecutionCancelSignal();
		return AbortSignal.any(compact([canceled, this.stopped]));
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
			this.context.addExecutionHints({ message: text, location: 'outputPane' });
		}
	}
}
