import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { CatalogLookup, LOOKUP_LIMITS } from '../api/catalogLookup';
import { Client } from '../api/client';
import { toNodeError, type NodeError } from '../api/errors';
import { inOrder } from '../api/inOrder';
import { parkWherePending, type ItemResult } from '../notification/waiting/park';
import { fieldLabel } from './fieldLabel';
import type { Operation, Output, PreparedItem } from './operation';
import { findOperation } from './registry';

/** What became of one item before anything was sent: ready, or found invalid. */
type Preparation = PreparedItem | { invalid: NodeError };

/**
 * Runs the chosen operation over all items: the one item loop and the one continue-on-fail block.
 * All items are prepared first, so that a mistake in one of them is found before any is sent.
 */
export async function router(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const operation = chosenOperation(this);
	const account = await accountOf(this);
	const count = this.getInputData().length;
	const preparations = Array.from({ length: count }, (_, itemIndex) =>
		prepare(this, operation, account, itemIndex),
	);
	const run = new Run(this, operation, account);
	const complete = await run.complete(preparations);
	const outputs = await inOrder(
		complete,
		operation.creates ? 1 : (operation.itemsAtOnce ?? 1),
		async (preparation, itemIndex) => await run.item(preparation, itemIndex),
	);
	return [await parkWherePending(this, outputs.flat())];
}

class Run {
	private readonly hints = new Set<string>();
	/** What was created so far, for the error that ends the run. */
	private readonly created: string[] = [];

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: Operation,
		private readonly account: Account,
	) {}

	/** Has what the forms leave to the catalog looked up, one item after the other. */
	async complete(preparations: Preparation[]): Promise<Preparation[]> {
		const signal = this.context.getExecutionCancelSignal();
		const client = new Client(this.context, this.account, { ...LOOKUP_LIMITS, signal });
		const catalog = new CatalogLookup(client);
		const completed: Preparation[] = [];
		for (const preparation of preparations) {
			const complete = 'send' in preparation ? preparation.complete : undefined;
			completed.push(
				complete ? await complete(catalog, (message) => this.hint(message)) : preparation,
			);
		}
		return completed;
	}

	async item(preparation: Preparation, itemIndex: number): Promise<ItemResult[]> {
		if ('invalid' in preparation) return this.failed(preparation.invalid, itemIndex);
		try {
			const outputs = await preparation.send({
				client: this.client(preparation),
				hint: (message) => this.hint(message),
			});
			if (this.operation.creates) this.noteCreated(outputs, itemIndex);
			// In place: a copy of each would tell in a list of tens of thousands.
			return outputs.map((output) => Object.assign(output, { pairedItem: { item: itemIndex } }));
		} catch (error) {
			const nodeError = toNodeError(this.context.getNode(), error, {
				itemIndex,
				labelOf: (field) => fieldLabel(this.operation, field, this.context.getNode()),
				about: preparation.about,
				notes:
					this.created.length > 0 ? [`Already done in this run: ${this.created.join('; ')}.`] : [],
			});
			return this.failed(nodeError, itemIndex);
		}
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

	private failed(error: NodeError, itemIndex: number): ItemResult[] {
		if (!this.context.continueOnFail()) throw error;
		const status = 'httpCode' in error && error.httpCode ? Number(error.httpCode) : undefined;
		// n8n knows an item for its error output by these two names and no others.
		const details = status === undefined ? {} : { details: { status } };
		const json = { error: error.message, ...details };
		return [{ json, pairedItem: { item: itemIndex } }];
	}

	private noteCreated(outputs: Output[], itemIndex: number): void {
		const [first] = outputs;
		if (outputs.length === 1 && typeof first?.json.hash === 'string') {
			this.created.push(`item ${itemIndex} is ${first.json.hash}`);
		}
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
		throw toNodeError(context.getNode(), error, {});
	}
}

function prepare(
	context: IExecuteFunctions,
	operation: Operation,
	account: Account,
	itemIndex: number,
): Preparation {
	try {
		return operation.prepare(context, itemIndex, account);
	} catch (error) {
		const invalid = toNodeError(context.getNode(), error, { itemIndex });
		if (!context.continueOnFail()) throw invalid;
		return { invalid };
	}
}
