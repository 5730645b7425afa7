import path from 'node:path';
import { type SandboxOptions, startSandbox } from '../../sandbox';
import { accountAt, type N8n, startN8n } from '../n8n/n8n';
import setUpSuite from '../n8n/suite';
import { CREDENTIAL_TYPE } from '../n8n/paths';
import { DEMO_LOGIN, N8nRest } from '../n8n/rest';
import type { Running } from './workflows';

const RECORDER_FOLDER = path.join(__dirname, 'recorder');

/** The files of the suite read its address from this variable. */
const SHARED_N8N = 'SHARED_N8N';

let n8n: N8n | undefined;

export default async function openSharedN8n(): Promise<void> {
	await setUpSuite();
	const env = { N8N_CUSTOM_EXTENSIONS: RECORDER_FOLDER, GENERIC_TIMEZONE: 'America/Sao_Paulo' };
	n8n = await startN8n('e2e-shared', { has: 'package', env });
	process.env[SHARED_N8N] = n8n.url;
}

export async function closeSharedN8n(): Promise<void> {
	await n8n?.close();
}

/** Each file has a sandbox of its own, and a credential for it in the shared n8n. */
export interface Guest extends Running {
	close: () => Promise<void>;
}

export async function enterSharedN8n(options: SandboxOptions = {}): Promise<Guest> {
	const url = process.env[SHARED_N8N] ?? '';
	const rest = new N8nRest(url);
	await rest.signIn(DEMO_LOGIN);
	const sandbox = await startSandbox(options);
	const credential = await rest.createCredential('Sandbox', CREDENTIAL_TYPE, accountAt(sandbox));
	return { url, rest, sandbox, credential, close: async () => await sandbox.close() };
}
