import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IPairedItemData,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { CatalogLookup, LOOKUP_LIMITS } from '../api/catalogLookup';
import { Client } from '../api/client';
import { toFailure, type Failure } from '../api/errors';
import { inOrder } from '../shared/mapLimit';
import { ExecutionMemory } from '../once/executionMemory';
import { parkWherePending, type ItemResult } from '../wait/suspend';
import { fieldLabel } from './fieldLabel';
import type { Operation, PreparedItem } from './operation';
import { findOperation } from './registry';

/** What became of one item before anything was sent: ready, or found invalid. */
type Preparation = PreparedItem | { invalid: Failure };

/**
 * Runs the chosen operation over all items: the one item loop and the one continue-on-fail block.
 * All items are prepared first, so that a mistake in one of them is found before any is sent.
 */
export async function router(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let run: Run;
	try {
		run = new Run(this, chosenOperation(this), await accountOf(this));
	} catch (error) {
		return [everyItemFailed(this, toFailure(this.getNode(), error, { isSent: false }))];
	}
	return [await parkWherePending(this, await run.results())];
}

/** n8n would hand the items on as if nothing had happened, through the output for success. */
function everyItemFailed(context: IExecuteFunctions, failure: Failure): INodeExecutionData[] {
	return context.getInputData().flatMap((_item, index) => failedItem(context, failure, index));
}

/** An item for the error output: n8n of every version knows it by this one key. */
function failedItem(
	context: IExecuteFunctions,
	{ error, facts }: Failure,
	itemIndex: number,
): Array<{ json: IDataObject; pairedItem: IPairedItemData }> {
	if (!context.continueOnFail()) throw error;
	return [{ json: { error: { ...facts } }, pairedItem: { item: itemIndex } }];
}

class Run {
	private readonly hints = new Set<string>();
	private readonly memory: ExecutionMemory;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: Operation,
		private readonly account: Account,
	) {
		this.memory = new ExecutionMemory(context);
	}

	async results(): Promise<ItemResult[]> {
		const { creates, itemsAtOnce = 1 } = this.operation;
		const complete = await this.complete(this.prepare());
		const outputs = await inOrder(
			complete,
			creates ? 1 : itemsAtOnce,
			async (preparation, itemIndex) => await this.item(preparation, itemIndex),
		);
		return outputs.flat();
	}

	/** Reads and checks all items; nothing is sent yet. */
	private prepare(): Preparation[] {
		const { length } = this.context.getInputData();
		return Array.from({ length }, (_, itemIndex) => this.prepared(itemIndex));
	}

	/** Has what the forms leave to the catalog looked up, one item after the other. */
	private async complete(preparations: Preparation[]): Promise<Preparation[]> {
		const signal = this.context.getExecutionCancelSignal();
		const client = new Client(this.context, this.account, { ...LOOKUP_LIMITS, signal });
		const catalog = new CatalogLookup(client);
		const completed: Preparation[] = [];
		for (const [itemIndex, preparation] of preparations.entries()) {
			const complete = 'send' in preparation ? preparation.complete : undefined;
			const completion = complete?.(catalog, (message) => this.hint(message));
			completed.push(
				(await completion?.catch((error: unknown) => this.invalid(error, itemIndex))) ??
					preparation,
			);
		}
		return completed;
	}

	private async item(preparation: Preparation, itemIndex: number): Promise<ItemResult[]> {
		if ('invalid' in preparation) return failedItem(this.context, preparation.invalid, itemIndex);
		try {
			const outputs = await preparation.send({
				client: this.client(preparation),
				memory: this.memory,
				hint: (message) => this.hint(message),
			});
			// In place: a copy of each would tell in a list of tens of thousands.
			return outputs.map((output) => Object.assign(output, { pairedItem: { item: itemIndex } }));
		} catch (error) {
			const failure = toFailure(this.context.getNode(), error, {
				itemIndex,
				isSent: true,
				labelOf: (field) => fieldLabel(this.operation, field, this.context.getNode()),
				about: preparation.about,
				created: this.created(),
			});
			return failedItem(this.context, failure, itemIndex);
		}
	}

	private prepared(itemIndex: number): Preparation {
		const { context, operation, account } = this;
		try {
			return operation.prepare(context, itemIndex, account);
		} catch (error) {
			return this.invalid(error, itemIndex);
		}
	}

	private invalid(error: unknown, itemIndex: number): Preparation {
		const { context } = this;
		const created = this.created();
		const invalid = toFailure(context.getNode(), error, { itemIndex, created, isSent: false });
		if (!context.continueOnFail()) throw invalid.error;
		return { invalid };
	}

	private client({ clientOptions }: PreparedItem): Client {
		return new Client(this.context, this.account, {
			...clientOptions,
			signal: this.context.getExecutionCancelSignal(),
			onWait: (endpoint) =>
				this.hint(`The account had reached its rate limit for ${endpoint}, so this run waited.`),
		});
	}

	/** What this execution has made so far: n8n drops it when the run fails, so that error tells of it. */
	private created(): string[] | undefined {
		if (!this.operation.creates || this.context.continueOnFail()) return undefined;
		return this.memory.made().map(({ run, item, hash }) => {
			const where = run === 0 ? '' : `run ${run + 1}, `;
			return `${where}item ${item + 1} is ${hash}`;
		});
	}

	private hint(message: string): void {
		if (this.hints.has(message)) return;
		this.hints.add(message);
		this.context.addExecutionHints({ message, location: 'outputPane' });
	}
}

function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = findOperation(String(resource), String(value));
	if (operation) return operation;
	throw new NodeOperationError(
		context.getNode(),
		`Operation "${value}" of "${resource}" does not exist`,
		{
			description: 'Choose the resource and the operation again.',
		},
	);
}

async function accountOf(context: IExecuteFunctions): Promise<Account> {
	return readAccount(await context.getCredentials(CREDENTIAL_NAME));
}
