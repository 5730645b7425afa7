import { z } from 'zod';
import type { Sandbox } from '../../sandbox';
import type { Running } from '../e2e/workflows';
import { until } from '../until';
import type { Execution } from './execution';
import journey from './journey.json';
import type { SavedCredential, SavedWorkflow } from './rest';

export const NODES = {
	start: 'Start here',
	list: 'List the whole catalog',
	offer: 'Make an offer for it',
	charge: 'Charge the customer by PIX',
	trigger: 'When the charge is paid',
	sale: 'Hand the sale to your CRM',
} as const;

/** A list with nothing chosen. */
const PRODUCT = JSON.stringify({ __rl: true, mode: 'list', value: '' });

const offerSchema = z.object({ hash: z.string(), price_reais: z.number() });
const transactionSchema = z.object({
	hash: z.string(),
	amount_reais: z.number(),
	payment_status: z.string(),
});

/** The published workflow. */
export interface Journey {
	workflow: SavedWorkflow;
	notificationUrl: string;
	/** Whether an earlier start has not left it. */
	isNew: boolean;
}

export interface Check {
	what: string;
	figures: string;
	passed: boolean;
}

/**
 * Publishes the workflow of the journey with a product and a credential, unless a kept folder has it. The workflow is
 * not a recipe, because it creates an offer that nobody can remove.
 */
export async function publishJourney({
	rest,
	url,
	credential,
	sandbox,
}: Running): Promise<Journey> {
	const kept = await rest.workflowNamed(journey.name);
	const workflow = kept ?? (await rest.createWorkflow(workflowFor(credential, sandbox)));
	if (!kept) await rest.publish(workflow);
	const trigger = workflow.nodes.find(({ type }) => type.endsWith('.digitalSalesTrigger'));
	const notificationUrl = `${url}/webhook/${trigger?.webhookId ?? ''}/digital-sales`;
	return { workflow, notificationUrl, isNew: kept === undefined };
}

function workflowFor({ id, name }: SavedCredential, { products }: Sandbox) {
	const chosen = JSON.stringify({ __rl: true, mode: 'hash', value: products[0]?.hash ?? '' });
	const text = JSON.stringify(journey).replaceAll(PRODUCT, chosen);
	const file = JSON.parse(text) as typeof journey;
	const nodes = file.nodes.map((node) =>
		'credentials' in node ? { ...node, credentials: { digitalSalesApi: { id, name } } } : node,
	);
	return { ...file, nodes };
}

/**
 * Runs the whole journey unattended: the catalog, an offer, a PIX charge, its payment in the sandbox, and the
 * execution that the payment starts.
 *
 * @param tell gets each check as it happens
 * @throws Error if a step produces nothing to check
 */
export async function runJourney(
	{ sandbox, rest }: Pick<Running, 'sandbox' | 'rest'>,
	{ workflow, notificationUrl }: Journey,
	tell: (check: Check) => void,
): Promise<void> {
	const readsOf = (end: string): number =>
		sandbox.requests.filter(({ method, path }) => method === 'GET' && path.endsWith(end)).length;
	const execution = await rest.run(workflow.id, NODES.start);
	if (execution.error !== undefined) {
		throw new Error(`"${execution.lastNode ?? workflow.name}" failed: ${execution.error}`);
	}

	const listed = execution.items(NODES.list).length;
	const requests = readsOf('/products');
	tell({
		what: 'All products listed',
		figures: `${listed}, with ${requests} requests of 20 a minute`,
		passed: listed === sandbox.products.length && requests > 0 && requests <= 20,
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
			sandbox.charges() === 1 &&
			charge.amount_reais === offer.price_reais &&
			charge.payment_status === 'waiting_payment' &&
			charged?.amount === made?.offer.price &&
			charged?.postback_url === notificationUrl,
	});

	const readsBefore = readsOf(`/${charge.hash}`);
	const [delivery] = await sandbox.pay(charge.hash);
	tell({
		what: 'Paid in the sandbox',
		figures: `notice answered with ${delivery?.status ?? 'nothing'}`,
		passed: delivery?.status === 200,
	});

	const sales = async () =>
		(await rest.executions(workflow.id)).filter(({ mode }) => mode === 'webhook');
	const newest = await until('the payment starts the workflow', async () => (await sales())[0]);
	const sale = transactionSchema.parse(firstOf(await rest.ended(newest.id), NODES.sale));
	tell({
		what: 'Payment verified, workflow run',
		figures: `${sale.hash}, ${price(sale.amount_reais)}, ${sale.payment_status}`,
		passed:
			sale.hash === charge.hash &&
			sale.amount_reais === charge.amount_reais &&
			sale.payment_status === 'paid' &&
			readsOf(`/${charge.hash}`) > readsBefore &&
			(await sales()).length === 1,
	});
}

function price(reais: number): string {
	return `R$ ${reais.toFixed(2).replace('.', ',')}`;
}

function firstOf(execution: Execution, node: string): unknown {
	const [item] = execution.items(node);
	if (item === undefined) throw new Error(`"${node}" produced no output.`);
	return item.json;
}
