import path from 'node:path';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { installHost } from './host';
import { type Journey, publishJourney } from './journey';
import { Member } from './member';
import { installBuild } from './package';
import { CREDENTIAL_TYPE, DATA_FOLDER } from './paths';
import { CleanUp, freePort, LOOPBACK } from './processes';
import { CommunityNodes, Registry } from './registry';
import { DEMO_LOGIN, N8nRest, type SavedCredential } from './rest';

export type { Member } from './member';

/** Halves the time that n8n needs to start. */
export const WITHOUT_EDITOR = { N8N_DISABLE_UI: 'true' };

export interface N8nOptions {
	sandbox?: SandboxOptions;
	env?: Record<string, string>;
	/** Keeps its data in this folder. By default, its folder goes with it. */
	userFolder?: string;
	/** Another port is used if this one is taken. */
	port?: number;
	/** By default, the package and a credential for the sandbox. */
	has?: 'credential' | 'package' | 'nothing';
	/** Further processes, such as `worker-1` and `webhook-1`. */
	others?: string[];
}

/**
 * Starts a real n8n with the package, signs its owner in, and starts a sandbox.
 *
 * @param name of the logs
 */
export async function startN8n(name: string, options: N8nOptions = {}): Promise<N8n> {
	const { has = 'credential', others = [] } = options;
	await installHost();
	return await CleanUp.begin(async (cleanUp) => {
		const userFolder = options.userFolder ?? (await cleanUp.folder(name));
		const mainPort = await freePort(options.port);
		const ports = await Promise.all(others.map(async () => await freePort()));
		const [publicPort = mainPort] = ports.filter((_, nth) => others[nth]?.startsWith('webhook'));
		const env = { N8N_WEBHOOK_URL: `http://${LOOPBACK}:${publicPort}/`, ...options.env };
		const memberOf = (member: string, port: number, folder: string): Member =>
			new Member(member, port, folder, path.join(DATA_FOLDER, `${name}-${member}`), env);
		const main = memberOf('main', mainPort, userFolder);
		const rest = others.map((other, nth) =>
			memberOf(other, ports[nth] ?? 0, path.join(userFolder, other)),
		);
		const members = [main, ...rest];
		cleanUp.add(async () => {
			await Promise.all(members.map(async (member) => await member.stop()));
		});

		if (has !== 'nothing') await installBuild(members.map((member) => member.userFolder));
		const sandbox = await startSandbox(options.sandbox);
		cleanUp.add(async () => await sandbox.close());
		const n8n = new N8n(userFolder, sandbox, main, members, cleanUp.run);
		// The main process migrates the database, which the others need.
		await n8n.startAgain();
		await Promise.all(rest.map(async (member) => await member.start()));
		if (has === 'credential') await n8n.createCredential();
		return n8n;
	});
}

/** Starts n8n and a sandbox, with the workflow of the journey. */
export async function startWithJourney(
	name: string,
	options: N8nOptions = {},
): Promise<{ n8n: N8n; journey: Journey }> {
	const n8n = await startN8n(name, options);
	const journey = await publishJourney(n8n);
	await n8n.createCredential({ notificationUrl: journey.notificationUrl });
	return { n8n, journey };
}

/** An n8n without the package, and a registry that has it. */
export interface EmptyN8n {
	n8n: N8n;
	registry: Registry;
	nodes: CommunityNodes;
	close: () => Promise<void>;
}

/** @param name of the logs */
export async function startEmptyN8n(name: string): Promise<EmptyN8n> {
	return await CleanUp.begin(async (cleanUp) => {
		const registry = await Registry.open(await cleanUp.folder(`${name}-registry`));
		cleanUp.add(registry.close);
		const env = {
			PATH: registry.path,
			// n8n first asks the public registry and its own service. Nothing listens on this port, so both fail at once.
			HTTPS_PROXY: `http://${LOOPBACK}:9`,
			NO_PROXY: LOOPBACK,
		};
		const n8n = await startN8n(name, { has: 'nothing', env });
		cleanUp.add(n8n.close);
		return { n8n, registry, nodes: new CommunityNodes(n8n.rest), close: cleanUp.run };
	});
}

export class N8n {
	readonly rest: N8nRest;
	private saved: SavedCredential | undefined;

	constructor(
		readonly userFolder: string,
		readonly sandbox: Sandbox,
		readonly main: Member,
		readonly members: readonly Member[],
		/** Ends n8n and the sandbox. */
		readonly close: () => Promise<void>,
	) {
		this.rest = new N8nRest(main.url);
	}

	/** The public address. */
	get url(): string {
		return this.webhooks[0]?.url ?? '';
	}

	get workers(): Member[] {
		return this.members.filter(({ name }) => name.startsWith('worker'));
	}

	/** The main process, if there are no webhook processes. */
	get webhooks(): Member[] {
		const others = this.members.filter(({ name }) => name.startsWith('webhook'));
		return others.length === 0 ? [this.main] : others;
	}

	atEach(address: string): string[] {
		return this.webhooks.map(({ url }) => address.replace(this.url, url));
	}

	/** The worker that ran an execution last. */
	async workerOf(executionId: string): Promise<string | undefined> {
		for (const worker of this.workers) {
			if ((await worker.executions()).includes(executionId)) return worker.name;
		}
		return undefined;
	}

	/** Saves a credential for the sandbox, in place of one that an earlier sandbox has left in a kept folder. */
	async createCredential(more: object = {}): Promise<SavedCredential> {
		const account = { ...accountAt(this.sandbox), ...more };
		this.saved = await this.rest.putCredential('Sandbox', CREDENTIAL_TYPE, account);
		return this.saved;
	}

	get credential(): SavedCredential {
		if (!this.saved) throw new Error('This n8n has no credential yet.');
		return this.saved;
	}

	/** Loads the current code. */
	async reload(): Promise<void> {
		await installBuild([this.userFolder]);
		await this.restart();
	}

	/** Keeps data and address. */
	async restart(env?: Record<string, string>): Promise<void> {
		await this.main.stop();
		await this.startAgain(env);
	}

	/** Keeps data and address. */
	async startAgain(env?: Record<string, string>): Promise<void> {
		await this.main.start(env);
		await this.rest.signIn(DEMO_LOGIN);
	}
}

export function accountAt({ baseUrl, apiToken, bodyApiToken }: Sandbox) {
	return { baseUrl, apiToken, bodyApiToken, platformDiffers: true };
}
