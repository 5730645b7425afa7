import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { CatalogLookup, LOOKUP_LIMITS } from '../api/catalogLookup';
import { Client } from '../api/client';
import { toFailure, type Failure } from '../api/errors';
import { inOrder } from '../api/inOrder';
import { ExecutionMemory } from '../once/executionMemory';
import { parkWherePending, type ItemResult } from '../notification/waiting/park';
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
	const operation = chosenOperation(this);
	const account = await accountOf(this);
	const run = new Run(this, operation, account);
	const complete = await run.complete(run.prepare());
	const outputs = await inOrder(
		complete,
		operation.creates ? 1 : (operation.itemsAtOnce ?? 1),
		async (preparation, itemIndex) => await run.item(preparation, itemIndex),
	);
	return [await parkWherePending(this, outputs.flat())];
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

	/** Reads and checks all items; nothing is sent yet. */
	prepare(): Preparation[] {
		const { length } = this.context.getInputData();
		return Array.from({ length }, (_, itemIndex) => this.prepared(itemIndex));
	}

	/** Has what the forms leave to the catalog looked up, one item after the other. */
	async complete(preparations: Preparation[]): Promise<Preparation[]> {
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

	async item(preparation: Preparation, itemIndex: number): Promise<ItemResult[]> {
		if ('invalid' in preparation) return this.failed(preparation.invalid, itemIndex);
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
				labelOf: (field) => fieldLabel(this.operation, field, this.context.getNode()),
				about: preparation.about,
				created: this.created(),
			});
			return this.failed(failure, itemIndex);
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
		const invalid = toFailure(context.getNode(), error, { itemIndex, created: this.created() });
		if (!context.continueOnFail()) throw invalid.error;
		return { invalid };
	}

	private client({ clientOptions }: PreparedItem): Client {
		return new Client(this.context, this.account, {
			...clientOptions,
			signal: this.context.getExecutionCancelSignal(),
			onWait: (endpoint) =>
				this.hint(
					`The service limits how often ${endpoint} may be called, and the account had used that up, so this run waited for its turn.`,
				),
		});
	}

	/** An item for the error output: n8n of every version knows it by this one key. */
	private failed({ error, facts }: Failure, itemIndex: number): ItemResult[] {
		if (!this.context.continueOnFail()) throw error;
		return [{ json: { error: { ...facts } }, pairedItem: { item: itemIndex } }];
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
	const credential = await context.getCredentials(CREDENTIAL_NAME);
	try {
		return readAccount(credential);
	} catch (error) {
		throw toFailure(context.getNode(), error, {}).error;
	}
}
