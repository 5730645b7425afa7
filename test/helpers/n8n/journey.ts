import { z } from 'zod';
import { until } from '../until';
import type { Execution } from './execution';
import type { SetUp } from './setUp';

export const NODES = {
	start: 'Start here',
	list: 'List the whole catalog',
	offer: 'Make an offer for it',
	charge: 'Charge the customer by PIX',
	trigger: 'When the charge is paid',
	sale: 'Hand the sale to your CRM',
} as const;

const offerSchema = z.object({ hash: z.string(), price_reais: z.number() });
const transactionSchema = z.object({
	hash: z.string(),
	amount_reais: z.number(),
	payment_status: z.string(),
});

export interface Check {
	what: string;
	figures: string;
	passed: boolean;
}

function price(reais: number): string {
	return `R$ ${reais.toFixed(2).replace('.', ',')}`;
}

function firstOf(execution: Execution, node: string): unknown {
	const [item] = execution.items(node);
	if (item === undefined) throw new Error(`"${node}" produced no output.`);
	return item.json;
}

/**
 * Runs the whole journey unattended: the catalog, an offer, a PIX charge, its payment in the sandbox, and the
 * execution that the payment starts.
 *
 * @param tell gets each check as it happens
 * @throws Error if a step produces nothing to check
 */
export async function runJourney(
	{ sandbox, rest, journey }: Pick<SetUp, 'sandbox' | 'rest' | 'journey'>,
	tell: (check: Check) => void,
): Promise<void> {
	const { workflow, notificationUrl } = journey;
	/** Counts the reads of paths that end with `end`, without the first `after` requests. */
	const readsOf = (end: string, after: number): number =>
		sandbox.requests
			.slice(after)
			.filter(({ method, path }) => method === 'GET' && path.endsWith(end)).length;
	const requestsBefore = sandbox.requests.length;
	const chargesBefore = sandbox.charges();
	const execution = await rest.run(workflow.id, NODES.start);
	if (execution.error !== undefined) {
		throw new Error(`"${execution.lastNode ?? workflow.name}" failed: ${execution.error}`);
	}

	const listed = execution.items(NODES.list).length;
	const inCatalog = sandbox.products.length;
	const requests = readsOf('/products', requestsBefore);
	tell({
		what: 'All products listed',
		figures: `${listed} of ${inCatalog}, with ${requests} requests of 20 a minute`,
		passed: listed === inCatalog && requests > 0 && requests <= 20,
	});

	const offer = offerSchema.parse(firstOf(execution, NODES.offer));
	const made = sandbox.offers.find((one) => one.offer.hash === offer.hash);
	tell({
		what: 'Offer created',
		figures: `${offer.hash}, ${price(offer.price_reais)}`,
		passed:
			made?.product_hash === sandbox.products[0]?.hash &&
			made?.offer.price === Math.round(offer.price_reais * 100),
	});

	const charge = transactionSchema.parse(firstOf(execution, NODES.charge));
	const charged = sandbox.transactions.find(({ hash }) => hash === charge.hash);
	tell({
		what: 'Customer charged by PIX',
		figures: `${charge.hash}, ${price(charge.amount_reais)}, ${charge.payment_status}`,
		passed:
			sandbox.charges() === chargesBefore + 1 &&
			charge.amount_reais === offer.price_reais &&
			charge.payment_status === 'waiting_payment' &&
			charged?.amount === made?.offer.price &&
			charged?.postback_url === notificationUrl,
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

	const sales = async () =>
		(await rest.executions(workflow.id)).filter(({ mode }) => mode === 'webhook');
	const newest = await until('the payment starts the workflow', async () => (await sales())[0]);
	const started = await rest.ended(newest.id);
	const sale = transactionSchema.parse(firstOf(started, NODES.sale));
	const readBacks = readsOf(`/${charge.hash}`, requestsBeforePayment);
	const afterMs = Date.parse(started.summary.startedAt ?? '') - paidAt;
	tell({
		what: 'Payment verified, workflow run',
		figures: `${sale.hash}, ${price(sale.amount_reais)}, ${sale.payment_status}, ${(afterMs / 1000).toFixed(2)} s after the payment`,
		passed:
			sale.hash === charge.hash &&
			sale.amount_reais === charge.amount_reais &&
			sale.payment_status === 'paid' &&
			readBacks > 0 &&
			(await sales()).length === 1,
	});
}
