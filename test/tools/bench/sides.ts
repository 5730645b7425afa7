import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import fastify from 'fastify';
import { transactionAt } from '../../helpers/charge';
import { chainOf, type NodeSketch, webStart } from '../../helpers/e2e/workflows';
import type { N8n } from '../../helpers/n8n/n8n';
import { CREDENTIAL_TYPE } from '../../helpers/n8n/paths';
import { LOOPBACK } from '../../helpers/n8n/processes';
import type { Sandbox } from '../../sandbox';
import { readShape } from '../../sandbox/shapes';

type Platform = Pick<Sandbox, 'baseUrl' | 'apiToken'>;

/** Answers each read with a paid transaction as the sandbox does, and takes far less time for it. */
export async function leanPlatform(sandbox: Sandbox, latencyMs: number): Promise<Platform> {
	const sold = { ...(await transactionAt(sandbox)), payment_status: 'paid' };
	const server = fastify();
	server.get<{ Params: { hash: string } }>('/v1/transactions/:hash', async ({ params }) => {
		if (latencyMs > 0) await pause(latencyMs);
		return readShape({ ...sold, ...params });
	});
	const origin = await server.listen({ host: LOOPBACK, port: 0 });
	return { baseUrl: `${origin}/v1`, apiToken: sandbox.apiToken };
}

export type Account = Awaited<ReturnType<typeof openAccount>>;

/** An account in n8n, with the credentials of the package and of HTTP Request. */
export async function openAccount<P extends Platform>({ rest, url }: N8n, platform: P) {
	const { baseUrl, apiToken } = platform;
	const name = `Bench ${randomUUID()}`;
	const credential = await rest.createCredential(name, CREDENTIAL_TYPE, { baseUrl, apiToken });
	const bearer = await rest.createCredential(name, 'httpBearerAuth', { token: apiToken });
	return { rest, url, platform, credential, bearer };
}

/** n8n's own node, as a user sets it up. */
export const httpRequest = (
	{ platform, bearer }: Account,
	path: string,
	more = {},
): NodeSketch => ({
	name: 'HTTP Request',
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 4.5,
	credentials: { httpBearerAuth: bearer },
	parameters: {
		url: `=${platform.baseUrl}${path}`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpBearerAuth',
		options: {},
		...more,
	},
});

/**
 * Publishes a chain of nodes that a webhook runs to its end.
 *
 * @param body of the webhook
 * @returns a function that does, and returns the milliseconds
 */
export async function side(
	{ rest, url, credential }: Account,
	nodes: NodeSketch[],
	body = (): object => ({}),
) {
	const address = randomUUID();
	const start = webStart(address, { responseMode: 'lastNode', responseData: 'noData' });
	const chain = chainOf(address, credential, [start, ...nodes]);
	// Storing all items would take longer than the work.
	const settings = { ...chain.settings, saveDataSuccessExecution: 'none' };
	await rest.publish(await rest.createWorkflow({ ...chain, settings }));

	return async (): Promise<number> => {
		const sent = body();
		const begun = performance.now();
		await post(`${url}/webhook/${address}`, sent);
		return performance.now() - begun;
	};
}

/** Posts to a webhook of n8n, over connections that stay open. */
export async function post(url: string, body: object): Promise<void> {
	const response = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	const text = await response.text();
	if (!response.ok) throw new Error(`n8n answered ${response.status}: ${text}`);
}
