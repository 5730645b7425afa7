import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Sandbox } from '../../sandbox';
import { accountAt, type N8n, type N8nOptions, startN8n } from './n8n';
import { CREDENTIAL_TYPE } from './paths';
import type { N8nRest, SavedCredential, SavedWorkflow } from './rest';

const FILE = path.join(__dirname, 'journey.json');
/** A list from which nothing is chosen yet. */
const PRODUCT = JSON.stringify({ __rl: true, mode: 'list', value: '' });

const workflowSchema = z.object({
	name: z.string(),
	nodes: z.array(
		z
			.object({
				name: z.string(),
				type: z.string(),
				webhookId: z.string().optional(),
				credentials: z.record(z.unknown()).optional(),
			})
			.passthrough(),
	),
	connections: z.record(z.unknown()),
	settings: z.record(z.unknown()).optional(),
});

/**
 * The workflow of the journey, from the catalog to a paid sale, with the product and the credential
 * chosen. It is no recipe, because it leaves an offer behind that nobody can remove.
 */
async function journeyFile(
	productHash: string,
	{ id, name }: { id: string; name: string },
): Promise<z.infer<typeof workflowSchema>> {
	const chosen = JSON.stringify({ __rl: true, mode: 'hash', value: productHash });
	const text = JSON.stringify(JSON.parse(await readFile(FILE, 'utf8')));
	const workflow = workflowSchema.parse(JSON.parse(text.replaceAll(PRODUCT, chosen)));
	const nodes = workflow.nodes.map((node) =>
		node.credentials === undefined
			? node
			: { ...node, credentials: { digitalSalesApi: { id, name } } },
	);
	return { ...workflow, nodes };
}

const CREDENTIAL_NAME = 'Digital Sales sandbox';

/** A published workflow and its address for notices. */
export interface PublishedWorkflow {
	workflow: SavedWorkflow;
	notificationUrl: string;
}

/** An n8n that knows the sandbox beside it, ready for use. */
export interface SetUp {
	n8n: N8n;
	sandbox: Sandbox;
	rest: N8nRest;
	credential: SavedCredential;
	credentialData: Record<string, string>;
	/** The workflow of the journey. */
	journey: PublishedWorkflow;
}

/** Publishes the workflow of the journey at an n8n with this address. */
export async function publishJourney(
	rest: N8nRest,
	url: string,
	productHash: string,
	credential: SavedCredential,
): Promise<PublishedWorkflow> {
	const workflow = await rest.createWorkflow(await journeyFile(productHash, credential));
	await rest.publish(workflow);
	const webhookId =
		workflow.nodes.find(({ type }) => type.endsWith('.digitalSalesTrigger'))?.webhookId ?? '';
	return { workflow, notificationUrl: `${url}/webhook/${webhookId}/digital-sales` };
}

/**
 * From nothing to ready: n8n with the package as a user installs it, a sandbox, an owner, a credential
 * for the sandbox, and the workflow of the journey, published.
 */
export async function setUp(name: string, options: N8nOptions = {}): Promise<SetUp> {
	const { step = async (_label, work) => await work() } = options;
	const n8n = await startN8n(name, { ...options, has: 'package' });
	const { rest, sandbox } = n8n;
	try {
		return await step('Credential and workflow', async () => {
			const [product] = sandbox.products;
			const account = accountAt(sandbox);
			const credential = await rest.createCredential(CREDENTIAL_NAME, CREDENTIAL_TYPE, account);
			const journey = await publishJourney(rest, n8n.url, product?.hash ?? '', credential);
			const credentialData = { ...account, notificationUrl: journey.notificationUrl };
			await rest.updateCredential(credential, credentialData);
			return { n8n, sandbox, rest, credential, credentialData, journey };
		});
	} catch (error) {
		await n8n.close();
		throw error;
	}
}
