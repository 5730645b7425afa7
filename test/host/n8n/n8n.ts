import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { CleanUp, freePort } from './processes';
import { installHost } from './host';
import { spawnN8n, type N8nProcess } from './instance';
import { installPackage, packBuild } from './packageInstall';
import { CREDENTIAL_TYPE, DATA_FOLDER } from './paths';
import { DEMO_LOGIN, N8nRest, type SavedCredential } from './rest';

/** An n8n that serves no editor starts in half of the time. */
export const WITHOUT_EDITOR = { N8N_DISABLE_UI: 'true' };

/** What may be otherwise than usual. */
export interface N8nOptions {
	sandbox?: SandboxOptions;
	/** More environment of n8n. */
	env?: Record<string, string>;
	/** Where n8n keeps everything; a folder that is removed in the end if left out. */
	userFolder?: string;
	/** The preferred port; another one is used if it is taken. */
	port?: number;
	/** What is there already: the package and a credential for the sandbox, or less of it. */
	has?: 'credential' | 'package' | 'nothing';
	/** Shows what is going on; says nothing if left out. */
	step?: <T>(label: string, work: () => Promise<T>) => Promise<T>;
}

/**
 * Starts a real n8n that has the package and an owner who is signed in, and a sandbox beside it.
 * `name` names the log.
 */
export async function startN8n(name: string, options: N8nOptions = {}): Promise<N8n> {
	const { step = async (_label, work) => await work(), env = {}, has = 'credential' } = options;
	await installHost();
	const cleanUp = new CleanUp();
	try {
		const userFolder = options.userFolder ?? (await cleanUp.folder(name));
		await mkdir(userFolder, { recursive: true });
		if (has !== 'nothing') {
			await step('Building and installing the package', async () => {
				const { tarball, remove } = await packBuild();
				await installPackage(tarball, userFolder).finally(remove);
			});
		}
		const sandbox = await startSandbox(options.sandbox);
		cleanUp.add(async () => await sandbox.close());
		const port = await freePort(options.port);
		const spawn = async (log: string, more = env): Promise<Session> => {
			const file = path.join(DATA_FOLDER, `${log}.log`);
			const running = await spawnN8n({ userFolder, port, log: file, env: more });
			cleanUp.add(running.stop);
			const rest = new N8nRest(running.url);
			await rest.signIn(DEMO_LOGIN);
			return { running, rest };
		};
		const session = await step('Starting n8n', async () => await spawn(name));
		const again: Spawn = async (more) => await spawn(`${name}-restarted`, more);
		const n8n = new N8n(userFolder, sandbox, session, again, cleanUp.run);
		if (has === 'credential') await n8n.createCredential();
		return n8n;
	} catch (error) {
		await cleanUp.run();
		throw error;
	}
}

/** A process of n8n, and somebody signed in to it. */
interface Session {
	running: N8nProcess;
	rest: N8nRest;
}

type Spawn = (env?: Record<string, string>) => Promise<Session>;

/** A running n8n. */
export class N8n {
	private saved: SavedCredential | undefined;

	constructor(
		/** Where this n8n keeps everything. */
		readonly userFolder: string,
		readonly sandbox: Sandbox,
		private session: Session,
		private readonly spawn: Spawn,
		/** Ends it and the sandbox. */
		readonly close: () => Promise<void>,
	) {}

	get url(): string {
		return this.session.running.url;
	}

	get rest(): N8nRest {
		return this.session.rest;
	}

	get process(): N8nProcess {
		return this.session.running;
	}

	/** Saves a credential that leads to the sandbox. */
	async createCredential(): Promise<SavedCredential> {
		this.saved = await this.rest.createCredential('Sandbox', CREDENTIAL_TYPE, this.account);
		return this.saved;
	}

	get credential(): SavedCredential {
		if (!this.saved) throw new Error('This n8n has no credential yet.');
		return this.saved;
	}

	/** What such a credential holds. */
	get account(): { baseUrl: string; apiToken: string; bodyApiToken: string } {
		const { baseUrl, apiToken, bodyApiToken } = this.sandbox;
		return { baseUrl, apiToken, bodyApiToken };
	}

	/** Stops n8n and starts it again with the same data, at the same address. */
	async restart(env?: Record<string, string>): Promise<void> {
		await this.process.stop();
		await this.startAgain(env);
	}

	/** Ends n8n as a crash does, with no time to put anything in order. */
	async kill(): Promise<void> {
		await this.process.kill();
	}

	/** Starts n8n again after it has ended, with the same data, at the same address. */
	async startAgain(env?: Record<string, string>): Promise<void> {
		this.session = await this.spawn(env);
	}
}
