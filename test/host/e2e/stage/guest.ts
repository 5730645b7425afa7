import { CREDENTIAL_TYPE } from '../../n8n/paths';
import { DEMO_LOGIN, N8nRest, type SavedCredential } from '../../n8n/rest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox';
import { SHARED_N8N } from './sharedN8n';

/** A sandbox of its own, and a credential for it in the n8n that several files share. */
export class Guest {
	private constructor(
		readonly sandbox: Sandbox,
		readonly credential: SavedCredential,
		readonly url: string,
		readonly rest: N8nRest,
	) {}

	/** Signs in to the n8n that is running. */
	static async enter(options: SandboxOptions = {}): Promise<Guest> {
		const url = process.env[SHARED_N8N] ?? '';
		const rest = new N8nRest(url);
		await rest.signIn(DEMO_LOGIN);
		const sandbox = await startSandbox(options);
		const { baseUrl, apiToken, bodyApiToken } = sandbox;
		const account = { baseUrl, apiToken, bodyApiToken };
		const credential = await rest.createCredential('Sandbox', CREDENTIAL_TYPE, account);
		return new Guest(sandbox, credential, url, rest);
	}

	async close(): Promise<void> {
		await this.sandbox.close();
	}
}
