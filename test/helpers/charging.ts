import { setTimeout as pause } from 'node:timers/promises';
import { deepCopy, type INodeParameters, type IRunExecutionData } from 'n8n-workflow';
import { catalogPages } from '../../nodes/DigitalSales/api/catalog';
import type { Fault, SandboxOptions } from '../sandbox';
import { cpf } from './charge';
import {
	type NodeOutcome,
	NodeProcess,
	type NodeRunOptions,
	processedItems,
	runNode,
} from './engine';
import { type Account, CUSTOMER, pixParameters, useAccount } from './account';

/** Items with a different customer each, for {@link OWN_CUSTOMER}. */
export const customers = (count: number) =>
	Array.from({ length: count }, (_, n) => ({ n, document: cpf(123_456_000 + n) }));

/** Parameters that take the customer from the item. */
export const OWN_CUSTOMER = {
	customerName: '={{ "Customer " + $json.n }}',
	customerDocument: '={{ $json.document }}',
};

/** n8n's Retry On Fail, without its pause. */
export const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

/** The error text for a charge in doubt. */
export const MAYBE = 'may already have been charged';

/** Faults for a charge. */
const FAULTS = {
	refuse: { kind: 'status', status: 422 },
	/** The platform makes the charge, and does not answer. */
	loseAnswer: { kind: 'resetAfterProcessing' },
	/** The platform neither makes the charge nor answers. */
	loseRequest: { kind: 'resetBeforeProcessing' },
	/** The platform makes a transaction whose payment is refused at once. */
	void: { kind: 'refused' },
	limit: { kind: 'retryAfter', seconds: 20 },
	slow: { kind: 'delay', ms: 2_000 },
} as const satisfies Record<string, Fault>;

/** A request for a charge, and how the node runs. */
export interface Ask extends NodeRunOptions {
	order?: unknown;
	/** Options > Charges in Doubt: what a person has found about each charge. */
	decisions?: Array<{ orderOrCustomer: string; hash?: string }>;
	/** More parameters of the form. */
	more?: INodeParameters;
	/** The execution that n8n's Retry repeats with this run. */
	retrying?: NodeOutcome;
}

/** Another worker of n8n, or the same worker after a restart. */
export const otherProcess = () => ({ process: NodeProcess.fresh() });

/** Where a charge is requested again, for `test.each`. */
export const PROCESSES: Array<[string, () => Pick<Ask, 'process'>]> = [
	['in this process', () => ({})],
	['after a restart', otherProcess],
];

/** A transaction with one of these statuses does not block a new charge. */
export const VOID = ['expired', 'canceled', 'refused'];

let workflows = 0;

/** Opens a shop for the tests of a block: one account, and a new workflow for each test. */
export function useShop(options: SandboxOptions = {}): Shop {
	const shop = new Shop(useAccount(options));
	beforeEach(() => {
		// Other test files in this jest worker use the same table.
		processedItems.clear();
		shop.begin();
	});
	return shop;
}

/** A published workflow that charges in each run, and the requests that the platform received. */
export class Shop {
	/** All runs of a test belong to one workflow and one node. */
	workflowId = '';

	constructor(readonly account: Account) {}

	/** Continues with a new workflow. */
	begin(): void {
		this.workflowId = `shop ${++workflows}`;
	}

	/** Parameters of Create PIX, with an Order Reference if it is given. */
	parameters(orderReference?: unknown, more: INodeParameters = {}): INodeParameters {
		return pixParameters(this.account.sandbox, {
			...(orderReference === undefined ? {} : { orderReference: orderReference as string }),
			...more,
		});
	}

	/** Runs the node for a charge; by default without Order Reference, in the test's own process. */
	async ask({ order, decisions = [], more, retrying, ...options }: Ask = {}): Promise<NodeOutcome> {
		const items = decisions.map((one) => ({
			orderOrCustomer: one.orderOrCustomer,
			hash: one.hash ?? '',
		}));
		const parameters = this.parameters(order, { options: { chargesInDoubt: { items } }, ...more });
		return retrying
			? await this.retry(parameters, retrying, options)
			: await this.run(parameters, options);
	}

	/** Like `ask`, but the run must create a charge or return an existing one. */
	async charge(ask: Ask = {}): Promise<NodeOutcome> {
		const outcome = await this.ask(ask);
		expect(errorOf(outcome).trim()).toBe('');
		expect(outcome.status).toBe('success');
		return outcome;
	}

	/** Like `ask`, but the run must be refused, because the charge may exist. */
	async refused(ask: Ask = {}): Promise<NodeOutcome> {
		const outcome = await this.ask(ask);
		expect(errorOf(outcome)).toContain(MAYBE);
		return outcome;
	}

	/** Like `ask`, but returns while the request is in flight, which takes `ms` milliseconds. */
	async underWay(ask: Ask = {}, ms = 3_000): Promise<{ ended: Promise<NodeOutcome> }> {
		this.account.fault('charge', { kind: 'delay', ms });
		const sent = this.posts + 1;
		const ended = this.ask(ask);
		while (this.posts < sent) await pause(5);
		return { ended };
	}

	async run(parameters: INodeParameters, options: NodeRunOptions = {}): Promise<NodeOutcome> {
		return await runNode(parameters, {
			credentials: this.account.credentials,
			mode: 'trigger',
			workflowId: this.workflowId,
			...options,
		});
	}

	/** Retries an execution as n8n does, with the same parameters or with those of the current workflow. */
	async retry(
		parameters: INodeParameters,
		of: NodeOutcome,
		options: NodeRunOptions = {},
	): Promise<NodeOutcome> {
		if (of.run === undefined) throw new Error('The execution did not run');
		return await this.run(parameters, { retryOf: of.run.data, ...options });
	}

	/** The hash of the offer in the cart. */
	get offer(): string {
		return this.account.sandbox.products[0]?.offers[0]?.hash ?? '';
	}

	/** Makes `GET /products` state this price in cents, and removes all faults. */
	sells(price: number): void {
		catalogPages.clear();
		this.account.sells({ hash: 'p1', title: 'Curso', offers: [{ hash: this.offer, price }] });
	}

	get charges(): number {
		return this.account.sandbox.charges();
	}

	/** The number of requests that could have made a charge. */
	get posts(): number {
		return this.account.sandbox.requests.filter(({ method }) => method === 'POST').length;
	}

	/** The hashes of all charges, oldest first. */
	get hashes(): string[] {
		return this.account.sandbox.transactions.map(({ hash }) => hash);
	}

	/** Changes the status of the newest transaction. */
	async latestBecomes(status: string): Promise<void> {
		await this.account.sandbox.setStatus(this.hashes.at(-1) ?? '', status);
	}

	/** Sets a fault for the charge that follows `after` other charges. */
	fault(kind: keyof typeof FAULTS, after = 0): void {
		this.account.fault('charge', { ...FAULTS[kind], after });
	}
}

/** The error of a run, as a person sees it. */
export function errorOf({ node }: NodeOutcome): string {
	return `${node?.error?.message ?? ''}\n${node?.error?.description ?? ''}`;
}

/** For a Retry that runs this node again although it succeeded: the data from the beginning, with the context data from the end. */
export function retryable({ run, begun }: Pick<NodeOutcome, 'run' | 'begun'>): IRunExecutionData {
	if (!run?.data.executionData || !begun.executionData)
		throw new Error('The execution did not run');
	const { contextData } = run.data.executionData;
	return deepCopy({ ...begun, executionData: { ...begun.executionData, contextData } });
}

/** What a person has found: the hash, or nothing. Names the customer of `parameters` without an order. */
export function decide(order?: string, hash?: string): Pick<Ask, 'decisions'> {
	return { decisions: [{ orderOrCustomer: order ?? CUSTOMER.customerDocument, hash }] };
}
