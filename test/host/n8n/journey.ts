import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Execution, ExecutionSummary } from './execution';
import type { SetUp } from './setUp';

const HEARD_WITHIN_MS = 30_000;
const POLL_MS = 50;

export const NODES = {
	start: 'Start here',
	list: 'List the whole catalog',
	offer: 'Make an offer for it',
	charge: 'Charge the customer by PIX',
	trigger: 'When the charge is paid',
	sale: 'Hand the sale to your CRM',
} as const;

const offerSchema = z.object({ hash: z.string(), price_reais: z.number() }).passthrough();
const transactionSchema = z
	.object({ hash: z.string(), amount_reais: z.number(), payment_status: z.string() })
	.passthrough();

type Offer = z.infer<typeof offerSchema>;
type Transaction = z.infer<typeof transactionSchema>;

/** One thing that has to have happened, with its figures for a person to read. */
export interface Check {
	what: string;
	figures: string;
	passed: boolean;
}

/** What happened on the way. */
export interface Journey {
	products: { listed: number; inCatalog: number; requests: number };
	offer: Offer;
	charge: Transaction;
	payment: {
		/** HTTP status with which n8n answered the notice. */
		answered: number | null;
		/** How often the transaction was read back from the service after the payment. */
		readBacks: number;
	};
	sale: { transaction: Transaction; executionId: string; executions: number; afterMs: number };
}

/** Shows an amount as a Brazilian price. */
function price(reais: number): string {
	return `R$ ${reais.toFixed(2).replace('.', ',')}`;
}

function onlyItem<S extends z.ZodTypeAny>(
	execution: Execution,
	node: string,
	schema: S,
): z.output<S> {
	const [item] = execution.items(node);
	if (item === undefined) throw new Error(`"${node}" produced no output.`);
	const read = schema.safeParse(item.json);
	if (!read.success) {
		throw new Error(`"${node}" produced unexpected output: ${JSON.stringify(item.json)}`);
	}
	return read.data as z.output<S>;
}

/** The executions that the published trigger of a workflow has started. */
export async function triggerExecutions(
	{ rest }: SetUp,
	workflowId: string,
): Promise<ExecutionSummary[]> {
	return (await rest.executions(workflowId)).filter(({ mode }) => mode === 'webhook');
}

async function heard(setUp: SetUp, workflowId: string): Promise<Execution> {
	const deadline = Date.now() + HEARD_WITHIN_MS;
	for (;;) {
		const [newest] = await triggerExecutions(setUp, workflowId);
		if (newest !== undefined) return await setUp.rest.ended(newest.id);
		if (Date.now() > deadline) throw new Error('The payment started no execution of the trigger.');
		await pause(POLL_MS);
	}
}

/**
 * Runs the whole journey unattended: the catalog, an offer, a PIX charge that carries the address
 * of the workflow's own trigger, its payment in the sandbox, and the execution which that starts.
 * Reports each step as it happens; throws if one cannot be taken at all.
 */
export async function runJourney(
	setUp: SetUp,
	tell: (check: Check) => void = () => {},
): Promise<Journey> {
	const { sandbox, rest } = setUp;
	const { workflow } = setUp.journey;
	const requestsBefore = sandbox.requests.length;
	const chargesBefore = sandbox.charges();
	const execution = await rest.run(workflow.id, NODES.start);
	if (execution.error !== undefined) {
		throw new Error(`"${execution.lastNode ?? workflow.name}" failed: ${execution.error}`);
	}

	const products = {
		listed: execution.items(NODES.list).length,
		inCatalog: sandbox.products.length,
		requests: sandbox.requests
			.slice(requestsBefore)
			.filter(({ method, path }) => method === 'GET' && path.endsWith('/products')).length,
	};
	tell({
		what: 'All products listed',
		figures: `${products.listed} of ${products.inCatalog}, with ${products.requests} requests of 20 a minute`,
		passed: products.listed === products.inCatalog && products.requests <= 20,
	});

	const offer = onlyItem(execution, NODES.offer, offerSchema);
	tell({
		what: 'Offer created',
		figures: `${offer.hash}, ${price(offer.price_reais)}`,
		passed: sandbox.offers.some((made) => made.offer.hash === offer.hash),
	});

	const charge = onlyItem(execution, NODES.charge, transactionSchema);
	tell({
		what: 'Customer charged by PIX',
		figures: `${charge.hash}, ${price(charge.amount_reais)}, ${charge.payment_status}`,
		passed:
			sandbox.charges() === chargesBefore + 1 &&
			charge.amount_reais === offer.price_reais &&
			charge.payment_status === 'waiting_payment',
	});

	const requestsBeforePayment = sandbox.requests.length;
	const paidAt = Date.now();
	const [delivery] = await sandbox.pay(charge.hash);
	const answered = delivery?.status ?? null;
	tell({
		what: 'Paid in the sandbox',
		figures: delivery === undefined ? 'no notice sent' : `notice answered with ${answered}`,
		passed: answered === 200,
	});

	const started = await heard(setUp, workflow.id);
	const transaction = onlyItem(started, NODES.sale, transactionSchema);
	const readBacks = sandbox.requests
		.slice(requestsBeforePayment)
		.filter(({ method, path }) => method === 'GET' && path.endsWith(`/${charge.hash}`)).length;
	const sale = {
		transaction,
		executionId: started.summary.id,
		executions: (await triggerExecutions(setUp, workflow.id)).length,
		afterMs: Date.parse(started.summary.startedAt ?? '') - paidAt,
	};
	tell({
		what: 'Payment verified, workflow run',
		figures: `${transaction.hash}, ${price(transaction.amount_reais)}, ${transaction.payment_status}, ${(sale.afterMs / 1000).toFixed(2)} s after the payment`,
		passed:
			transaction.hash === charge.hash &&
			transaction.amount_reais === charge.amount_reais &&
			transaction.payment_status === 'paid' &&
			readBacks > 0 &&
			sale.executions === 1,
	});
	return { products, offer, charge, payment: { answered, readBacks }, sale };
}
