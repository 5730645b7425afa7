import { mkdir } from 'node:fs/promises';
import { startSandbox } from '../../sandbox';
import { RECIPES } from '../../../examples/source';
import { render } from '../../../examples/source/workflow';
import { installHost } from './host';
import { startN8n, type N8nInstance } from './instance';
import { once } from './once';
import { installPackage, packBuild } from './packageInstall';
import { journeyFile } from './journeyFile';
import { CREDENTIAL_TYPE } from './paths';
import { freePort } from './ports';
import { N8nRest, type Login, type SavedCredential, type SavedWorkflow } from './rest';

export const DEMO_LOGIN: Login = { email: 'owner@example.test', password: 'Sandbox-demo-1' };
const CREDENTIAL_NAME = 'Digital Sales sandbox';

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;
type Step = <T>(label: string, work: () => Promise<T>) => Promise<T>;

/** A published workflow and its address for notices, the secret in it included. */
export interface PublishedWorkflow {
	workflow: SavedWorkflow;
	notificationUrl: string;
}

/** A sandbox and an n8n that knows it, ready for use. */
export interface SetUp {
	sandbox: Sandbox;
	n8n: N8nInstance;
	rest: N8nRest;
	credential: SavedCredential;
	credentialData: Record<string, string>;
	/** The workflow of the journey. */
	journey: PublishedWorkflow;
	stop(): Promise<void>;
}

export interface SetUpOptions {
	userFolder: string;
	sandboxPort?: number;
	n8nPort?: number;
	/** Whether the recipes are there to try. */
	withRecipes?: boolean;
	/** More environment for n8n. */
	env?: Record<string, string>;
	/** Where n8n's own output goes. */
	log: string;
	/** Shows what is going on; says nothing if left out. */
	step?: Step;
}

async function saveCredential(
	rest: N8nRest,
	data: Record<string, string>,
): Promise<SavedCredential> {
	const kept = (await rest.credentials()).find(({ name }) => name === CREDENTIAL_NAME);
	return kept === undefined
		? await rest.createCredential(CREDENTIAL_NAME, CREDENTIAL_TYPE, data)
		: await rest.updateCredential(kept, data);
}

async function publishJourney(
	rest: N8nRest,
	url: string,
	productHash: string,
	credential: SavedCredential,
): Promise<PublishedWorkflow> {
	const file = await journeyFile(productHash, credential);
	const id = (await rest.workflows()).find(({ name }) => name === file.name)?.id;
	const workflow = id === undefined ? await rest.createWorkflow(file) : await rest.workflow(id);
	if (!workflow.active) await rest.publish(workflow);
	const webhookId =
		workflow.nodes.find(({ type }) => type.endsWith('.digitalSalesTrigger'))?.webhookId ?? '';
	return { workflow, notificationUrl: `${url}/webhook/${webhookId}/digital-sales` };
}

/** The recipes in English, as drafts that a person completes. */
async function importRecipes(rest: N8nRest): Promise<void> {
	const present = new Set((await rest.workflows()).map(({ name }) => name));
	for (const [name, recipe] of Object.entries(RECIPES)) {
		const file = render(recipe, name, 'en');
		if (!present.has(file.name)) await rest.createWorkflow(file);
	}
}

/**
 * From nothing to ready: the pinned n8n with the package as a user installs it, a sandbox, an
 * owner, a credential for the sandbox, and the workflow of the journey, published.
 */
export async function setUp(options: SetUpOptions): Promise<SetUp> {
	const step: Step = options.step ?? (async (_label, work) => await work());
	const { userFolder } = options;
	await installHost();
	await mkdir(userFolder, { recursive: true });
	await step('Building and installing the package', async () => {
		const { tarball, remove } = await packBuild();
		await installPackage(tarball, userFolder).finally(remove);
	});
	const sandbox = await startSandbox({ port: await freePort(options.sandboxPort) });
	let n8n: N8nInstance | undefined;
	const stop = once(async () => {
		await n8n?.stop();
		await sandbox.close();
	});
	try {
		n8n = await step(
			'Starting n8n',
			async () =>
				await startN8n({ userFolder, port: options.n8nPort, log: options.log, env: options.env }),
		);
		const { url } = n8n;
		const rest = new N8nRest(url);
		return await step('Credential and workflows', async () => {
			await rest.signIn(DEMO_LOGIN);
			const [product] = sandbox.products;
			const account = {
				baseUrl: sandbox.baseUrl,
				apiToken: sandbox.apiToken,
				bodyApiToken: sandbox.bodyApiToken,
			};
			const credential = await saveCredential(rest, account);
			const journey = await publishJourney(rest, url, product?.hash ?? '', credential);
			if (options.withRecipes) await importRecipes(rest);
			const credentialData = { ...account, notificationUrl: journey.notificationUrl };
			await saveCredential(rest, credentialData);
			return {
				sandbox,
				n8n: n8n as N8nInstance,
				rest,
				credential,
				credentialData,
				journey,
				stop,
			};
		});
	} catch (error) {
		await stop();
		throw error;
	}
}
