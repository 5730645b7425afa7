import type { Sandbox } from '../../sandbox';
import journey from './journey.json';
import { accountAt, type N8n, type N8nOptions, startN8n } from './n8n';
import { CleanUp } from './processes';
import type { N8nRest, SavedCredential, SavedWorkflow } from './rest';

/** A list with nothing chosen. */
const PRODUCT = JSON.stringify({ __rl: true, mode: 'list', value: '' });

export interface PublishedWorkflow {
	workflow: SavedWorkflow;
	notificationUrl: string;
}

export interface SetUp {
	n8n: N8n;
	sandbox: Sandbox;
	rest: N8nRest;
	credential: SavedCredential;
	journey: PublishedWorkflow;
	/** Whether nothing was kept from an earlier start. */
	isNew: boolean;
}

/**
 * Publishes the workflow of the journey with a product and a credential. The workflow is not a recipe, because it
 * creates an offer that nobody can remove.
 */
export async function publishJourney(
	rest: N8nRest,
	url: string,
	productHash: string,
	{ id, name }: SavedCredential,
): Promise<PublishedWorkflow> {
	const chosen = JSON.stringify({ __rl: true, mode: 'hash', value: productHash });
	const text = JSON.stringify(journey).replaceAll(PRODUCT, chosen);
	const file = JSON.parse(text) as typeof journey;
	const nodes = file.nodes.map((node) =>
		'credentials' in node ? { ...node, credentials: { digitalSalesApi: { id, name } } } : node,
	);
	const workflow = await rest.createWorkflow({ ...file, nodes });
	await rest.publish(workflow);
	return published(workflow, url);
}

function published(workflow: SavedWorkflow, url: string): PublishedWorkflow {
	const trigger = workflow.nodes.find(({ type }) => type.endsWith('.digitalSalesTrigger'));
	return { workflow, notificationUrl: `${url}/webhook/${trigger?.webhookId ?? ''}/digital-sales` };
}

/** Starts n8n and a sandbox, and publishes the workflow of the journey, unless a kept folder has it. */
export async function setUp(name: string, options: N8nOptions = {}): Promise<SetUp> {
	return await CleanUp.begin(async (cleanUp) => {
		const n8n = await startN8n(name, options);
		cleanUp.add(n8n.close);
		const { rest, sandbox, credential } = n8n;
		const [product] = sandbox.products;

		const kept = await rest.workflowNamed(journey.name);
		const ready = kept
			? published(kept, n8n.url)
			: await publishJourney(rest, n8n.url, product?.hash ?? '', credential);

		const { notificationUrl } = ready;
		await rest.updateCredential(credential, { ...accountAt(sandbox), notificationUrl });
		return { n8n, sandbox, rest, credential, journey: ready, isNew: kept === undefined };
	});
}
