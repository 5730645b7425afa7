import { setTimeout as pause } from 'node:timers/promises';
import { deepCopy, type INodeParameters, type IRunExecutionData } from 'n8n-workflow';
import { catalogPages } from '../../nodes/DigitalSales/api/catalog';
import type { Fault, SandboxOptions } from '../sandbox';
import { cpf } from './charge';
import { processedItems, runNode, type NodeOutcome, type NodeRunOptions } from './engine';
import { type Account, pixParameters, useAccount } from './account';

/** Items of customers of their own, for {@link OWN_CUSTOMER}. */
export const customers = (count: number) =>
	Array.from({ length: count }, (_, n) => ({ n, document: cpf(123_456_000 + n) }));

/** Another customer for each item. */
export const OWN_CUSTOMER = {
	customerName: '={{ "Customer " + $json.n }}',
	customerDocument: '={{ $json.document }}',
};

/** n8n's Retry On Fail, without its pause. */
export const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

/** What a refusal says of a charge in doubt. */
export const MAYBE = 'may already have been charged';

/** What the service does with a charge. */
const FAULTS = {
	refuse: { kind: 'status', status: 422 },
	/** Makes it, and does not answer. */
	lose: { kind: 'resetAfterProcessing' },
	/** Neither makes it nor answers. */
	drop: { kind: 'resetBeforeProcessing' },
	/** Makes a transaction whose payment is refused at once. */
	void: { kind: 'refused' },
	limit: { kind: 'retryAfter', seconds: 20 },
	slow: { kind: 'delay', ms: 2_000 },
} as const satisfies Record<string, Fault>;

/** A charge that is asked for, and how the node runs. */
export interface Ask extends NodeRunOptions {
	order?: unknown;
	code?: string;
	/** More of the form. */
	more?: INodeParameters;
	/** The execution of which this is n8n's Retry. */
	retrying?: NodeOutcome;
}

/** A transaction with such a status guards nothing any more. */
export const VOID = ['expired', 'canceled', 'refused'];

let workflows = 0;

/** Opens a shop for the tests of a block: an account, and for each test another workflow. */
export function useShop(options: SandboxOptions = {}): Shop {
	const shop = new Shop(useAccount(options));
	beforeEach(() => {
		// Other files of this process have used it, too.
		processedItems.clear();
		shop.begin();
	});
	return shop;
}

/** A published workflow that charges, run after run, and what the service has seen of it. */
class Shop {
	/** All runs of a test are of one workflow, of one node. */
	workflowId = '';

	constructor(readonly account: Account) {}

	/** Goes on with another workflow. */
	begin(): void {
		this.workflowId = `shop ${++workflows}`;
	}

	/** Parameters of Create PIX, with an order reference where one is given. */
	parameters(orderReference?: unknown, more: INodeParameters = {}): INodeParameters {
		return pixParameters(this.account.sandbox, {
			...(orderReference === undefined ? {} : { orderReference: orderReference as string }),
			...more,
		});
	}

	/** Asks for a charge: by default of no order, without a code, in the process of the test. */
	async ask({ order, code, more, retrying, ...options }: Ask = {}): Promise<NodeOutcome> {
		const parameters = this.parameters(order, { options: { repeatCode: code }, ...more });
		return retrying
			? await this.retry(parameters, retrying, options)
			: await this.run(parameters, options);
	}

	/** The same, for a charge that must be made, or given again. */
	async charge(ask: Ask = {}): Promise<NodeOutcome> {
		const outcome = await this.ask(ask);
		expect(errorOf(outcome).trim()).toBe('');
		expect(outcome.status).toBe('success');
		return outcome;
	}

	/** The same, for one that must be refused, since it may exist. */
	async refused(ask: Ask = {}): Promise<NodeOutcome> {
		const outcome = await this.ask(ask);
		expect(errorOf(outcome)).toContain(MAYBE);
		return outcome;
	}

	/** Asks for one, and returns while the request is under way, for so long. */
	async underWay(ask: Ask = {}, ms = 3_000): Promise<{ ended: Promise<NodeOutcome> }> {
		this.account.fault('charge', { kind: 'delay', ms });
		const sent = this.posts + 1;
		const ended = this.ask(ask);
		while (this.posts < sent) await pause(5);
		return { ended };
	}

	/** Leaves what is asked for in doubt, though it is not made, and gives the code that allows it. */
	async codeFor(ask: Ask = {}): Promise<string> {
		this.fault('drop');
		await this.ask(ask);
		return codeIn(await this.ask(ask));
	}

	async run(parameters: INodeParameters, options: NodeRunOptions = {}): Promise<NodeOutcome> {
		return await runNode(parameters, {
			credentials: this.account.credentials,
			mode: 'trigger',
			workflowId: this.workflowId,
			...options,
		});
	}

	/** n8n's Retry of an execution, with the same parameters or with those of the workflow as it is now. */
	async retry(
		parameters: INodeParameters,
		of: NodeOutcome,
		options: NodeRunOptions = {},
	): Promise<NodeOutcome> {
		if (of.run === undefined) throw new Error('The execution did not run');
		return await this.run(parameters, { retryOf: of.run.data, ...options });
	}

	/** The offer that the cart may name. */
	get offer(): string {
		return this.account.sandbox.products[0]?.offers[0]?.hash ?? '';
	}

	/** Gives that offer a price in the catalog, in cents. */
	sells(price: number): void {
		catalogPages.clear();
		this.account.sells({ hash: 'p1', title: 'Curso', offers: [{ hash: this.offer, price }] });
	}

	/** Changes the price of that offer in the service's own catalog, in cents. */
	changePrice(price: number): void {
		catalogPages.clear();
		const [offer] = this.account.sandbox.products[0]?.offers ?? [];
		if (offer) offer.price = price;
	}

	get charges(): number {
		return this.account.sandbox.charges();
	}

	/** Requests that could have made a charge. */
	get posts(): number {
		return this.account.sandbox.requests.filter(({ method }) => method === 'POST').length;
	}

	/** The hashes of all charges, in their order. */
	get hashes(): string[] {
		return this.account.sandbox.transactions.map(({ hash }) => hash);
	}

	/** What becomes of the transaction that was made last. */
	async latestBecomes(status: string): Promise<void> {
		await this.account.sandbox.setStatus(this.hashes.at(-1) ?? '', status);
	}

	/** What the service does with the next charge, `after` a number of them. */
	fault(kind: keyof typeof FAULTS, after = 0): void {
		this.account.fault('charge', { ...FAULTS[kind], after });
	}
}

/** The error that a run ended with, as a person sees it. */
export function errorOf({ node }: NodeOutcome): string {
	return `${node?.error?.message ?? ''}\n${node?.error?.description ?? ''}`;
}

/** The code in an error about something in doubt. */
export function codeIn(outcome: NodeOutcome): string {
	const shown = /(?:if not, to|If it is not there, set .*? to) ([\w-]{9}); then /;
	return shown.exec(errorOf(outcome))?.[1] ?? '';
}

/** The data of an execution that n8n retries because something behind this item has failed. */
export function retryable({ run, begun }: NodeOutcome): IRunExecutionData {
	if (!run?.data.executionData || !begun.executionData) throw new Error('It did not run');
	const { contextData } = run.data.executionData;
	return deepCopy({ ...begun, executionData: { ...begun.executionData, contextData } });
}
