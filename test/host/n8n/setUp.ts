import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { startSandbox } from '../../sandbox';
import { CREDENTIAL_TYPE, Example } from './examples';
import { installHost } from './host';
import { startN8n, type N8nInstance } from './instance';
import { once } from './once';
import { installPackage, packBuild } from './packageInstall';
import { IS_PINNED_HOST } from './paths';
import { freePort } from './ports';
import { N8nRest, type Login, type SavedCredential, type SavedWorkflow } from './rest';

export const DEMO_LOGIN: Login = { email: 'owner@example.test', password: 'Sandbox-demo-1' };
const CREDENTIAL_NAME = 'Digital Sales sandbox';

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;
type Step = <T>(label: string, work: () => Promise<T>) => Promise<T>;

/**
 * An imported example workflow; with a trigger it is published and has an address for notices, the
 * secret in it included.
 */
export interface ImportedExample {
	file: string;
	workflow: SavedWorkflow;
	notificationUrl?: string;
}

/** A sandbox and an n8n that knows it, ready for use. */
export interface SetUp {
	sandbox: Sandbox;
	n8n: N8nInstance;
	rest: N8nRest;
	credential: SavedCredential;
	credentialData: Record<string, string>;
	examples: ImportedExample[];
	stop(): Promise<void>;
}

export interface SetUpOptions {
	userFolder: string;
	sandboxPort?: number;
	n8nPort?: number;
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

/** The address of a published trigger, where it leaves it for the other nodes of its workflow. */
const announced = z
	.object({ global: z.object({ digitalSalesTriggers: z.record(z.string()) }) })
	.transform(({ global }) => Object.values(global.digitalSalesTriggers)[0])
	.catch(undefined);

async function importExamples(
	rest: N8nRest,
	examples: Example[],
	credential: SavedCredential,
): Promise<ImportedExample[]> {
	const present = new Map((await rest.workflows()).map(({ id, name }) => [name, id]));
	const imported: ImportedExample[] = [];
	for (const example of examples) {
		const id = present.get(example.workflow.name);
		const workflow =
			id === undefined
				? await rest.createWorkflow(example.withCredential(credential))
				: await rest.workflow(id);
		if (example.hasTrigger && !workflow.active) {
			// An older n8n lacks versions of nodes that some of the examples use.
			await rest.publish(workflow).catch((error: unknown) => {
				if (IS_PINNED_HOST) throw error;
			});
		}
		const { staticData } = await rest.workflow(workflow.id);
		imported.push({ file: example.file, workflow, notificationUrl: announced.parse(staticData) });
	}
	return imported;
}

/**
 * From nothing to ready: the pinned n8n with the package as a user installs it, a sandbox, an
 * owner, a credential for the sandbox, and the example workflows, published where they listen.
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
		return await step('Credential and example workflows', async () => {
			await rest.signIn(DEMO_LOGIN);
			const [product] = sandbox.products;
			const examples = (await Example.all()).map((example) =>
				example.filledIn({ productHash: product?.hash ?? '', lowestPrice: '1,00' }),
			);
			const account = {
				baseUrl: sandbox.baseUrl,
				apiToken: sandbox.apiToken,
				bodyApiToken: sandbox.bodyApiToken,
			};
			const credential = await saveCredential(rest, account);
			const imported = await importExamples(rest, examples, credential);
			const listening = imported.find(({ notificationUrl }) => notificationUrl !== undefined);
			const credentialData = { ...account, notificationUrl: listening?.notificationUrl ?? '' };
			await saveCredential(rest, credentialData);
			return {
				sandbox,
				n8n: n8n as N8nInstance,
				rest,
				credential,
				credentialData,
				examples: imported,
				stop,
			};
		});
	} catch (error) {
		await stop();
		throw error;
	}
}
