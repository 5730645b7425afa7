import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CREDENTIAL_TYPE } from '../../n8n/paths';
import { installHost } from '../../n8n/host';
import { startN8n, type N8nInstance } from '../../n8n/instance';
import { installPackage, packBuild } from '../../n8n/packageInstall';
import { DATA_FOLDER } from '../../n8n/paths';
import { freePort } from '../../n8n/ports';
import { N8nRest, type SavedCredential } from '../../n8n/rest';
import { DEMO_LOGIN } from '../../n8n/setUp';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox';

/** An n8n that serves no editor starts in half of the time. */
export const WITHOUT_EDITOR = { N8N_DISABLE_UI: 'true' };

/** A real n8n with the package, and a sandbox of its own to which its credential leads. */
export class Stage {
	private constructor(
		readonly sandbox: Sandbox,
		readonly credential: SavedCredential,
		/** Where this n8n keeps everything. */
		readonly userFolder: string,
		private readonly log: string,
		private readonly port: number,
		private n8n: N8nInstance,
		private session: N8nRest,
		private readonly env: Record<string, string>,
	) {}

	/** Sets it all up in a folder of its own; `name` names the log, `env` is more environment of n8n. */
	static async open(
		name: string,
		options: SandboxOptions = {},
		env: Record<string, string> = {},
	): Promise<Stage> {
		await installHost();
		const userFolder = await mkdtemp(path.join(tmpdir(), `digital-sales-${name}-`));
		const { tarball, remove } = await packBuild();
		await installPackage(tarball, userFolder).finally(remove);
		const sandbox = await startSandbox(options);
		const port = await freePort();
		const log = path.join(DATA_FOLDER, `${name}.log`);
		const n8n = await startN8n({ userFolder, port, log, env });
		const rest = new N8nRest(n8n.url);
		await rest.signIn(DEMO_LOGIN);
		const credential = await rest.createCredential('Sandbox', CREDENTIAL_TYPE, {
			baseUrl: sandbox.baseUrl,
			apiToken: sandbox.apiToken,
			bodyApiToken: sandbox.bodyApiToken,
		});
		return new Stage(sandbox, credential, userFolder, log, port, n8n, rest, env);
	}

	/** The address of the running n8n. */
	get url(): string {
		return this.n8n.url;
	}

	/** The process of the running n8n. */
	get pid(): number {
		return this.n8n.pid;
	}

	get rest(): N8nRest {
		return this.session;
	}

	/** Stops n8n and starts it again with the same data, at the same address. */
	async restart(env?: Record<string, string>): Promise<void> {
		await this.n8n.stop();
		await this.startAgain(env);
	}

	/** Ends n8n as a crash does, with no time to put anything in order. */
	async kill(): Promise<void> {
		await this.n8n.kill();
	}

	/** Starts n8n again after it has ended, with the same data, at the same address. */
	async startAgain(env = this.env): Promise<void> {
		const { userFolder, port, log } = this;
		const restartedLog = log.replace(/\.log$/, '-restarted.log');
		this.n8n = await startN8n({ userFolder, port, log: restartedLog, env });
		this.session = new N8nRest(this.n8n.url);
		await this.session.signIn(DEMO_LOGIN);
	}

	async close(): Promise<void> {
		await this.n8n.stop();
		await this.sandbox.close();
		await rm(this.userFolder, { recursive: true, force: true, maxRetries: 3 });
	}
}
