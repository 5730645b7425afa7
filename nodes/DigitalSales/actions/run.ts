import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { CatalogLookup, LOOKUP_LIMITS } from '../api/catalog';
import { Client, type ClientOptions } from '../api/client';
import { ExecutionMemory } from '../once/executionMemory';

/** What the items of one run share. */
export class Run {
	/** What this execution has made before. */
	readonly memory: ExecutionMemory;
	readonly catalog: CatalogLookup;
	private readonly hints = new Set<string>();

	constructor(
		readonly context: IExecuteFunctions,
		readonly account: Account,
	) {
		this.memory = new ExecutionMemory(context);
		const signal = context.getExecutionCancelSignal();
		this.catalog = new CatalogLookup(new Client(context, account, { ...LOOKUP_LIMITS, signal }));
	}

	/** A client for the requests of one item. */
	client(options: ClientOptions): Client {
		return new Client(this.context, this.account, {
			...options,
			signal: this.context.getExecutionCancelSignal(),
			onWait: (endpoint) =>
				this.hint(`The account had reached its rate limit for ${endpoint}, so this run waited.`),
		});
	}

	/** Shows a hint in the output panel, once a run however often it is given. */
	readonly hint = (message: string): void => {
		if (this.hints.has(message)) return;
		this.hints.add(message);
		this.context.addExecutionHints({ message, location: 'outputPane' });
	};

	/** What this execution has made so far, for errors: "item 1 is abc123". */
	created(): string[] {
		return this.memory.made().map(({ run, item, hash }) => {
			const where = run === 0 ? '' : `run ${run + 1}, `;
			return `${where}item ${item + 1} is ${hash}`;
		});
	}
}
