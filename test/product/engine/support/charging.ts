import { deepCopy, type INodeParameters, type IRunExecutionData } from 'n8n-workflow';
import type { SandboxOptions } from '../../../sandbox';
import { cpf } from '../../../support/charge';
import { processedItems, runNode, type NodeOutcome, type NodeRunOptions } from '../harness';
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

	/** What the service answers to the next charges, `after` a number of them. */
	fault(kind: 'refuse' | 'lose' | 'drop', after = 0): void {
		const endpoint = 'POST /transactions';
		const { sandbox } = this.account;
		if (kind === 'refuse') sandbox.addFault({ endpoint, kind: 'status', status: 422, after });
		else if (kind === 'lose') sandbox.addFault({ endpoint, kind: 'resetAfterProcessing', after });
		else sandbox.addFault({ endpoint, kind: 'resetBeforeProcessing', after });
	}
}

/** The error that a run ended with, as a person sees it. */
export function errorOf({ node }: NodeOutcome): string {
	return `${node?.error?.message ?? ''}\n${node?.error?.description ?? ''}`;
}

/** The code in an error about something in doubt. */
export function codeIn(outcome: NodeOutcome): string {
	return /Again to ([\w-]+) and/.exec(errorOf(outcome))?.[1] ?? '';
}

/** The data of an execution that n8n retries because something behind this item has failed. */
export function retryable({ run, begun }: NodeOutcome): IRunExecutionData {
	if (!run?.data.executionData || !begun.executionData) throw new Error('It did not run');
	const { contextData } = run.data.executionData;
	return deepCopy({ ...begun, executionData: { ...begun.executionData, contextData } });
}
