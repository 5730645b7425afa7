import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LOOPBACK } from '../../n8n/ports';
import type { Sandbox } from '../../../sandbox';

/** A running address, and what closes it. */
export interface Front {
	/** What several accounts have in common as their base URL. */
	baseUrl: string;
	close: () => Promise<void>;
}

/** One address for several sandboxes, which tells the accounts apart by their tokens alone. */
export async function serveAccounts(sandboxes: Sandbox[]): Promise<Front> {
	const server = createServer((asked, answer) => {
		const sandbox = sandboxes.find(
			({ apiToken }) => asked.headers.authorization === `Bearer ${apiToken}`,
		);
		if (!sandbox) {
			answer.writeHead(401).end();
			return;
		}
		const { method, headers } = asked;
		const url = new URL(asked.url ?? '/', sandbox.baseUrl);
		const sent = request(url, { method, headers, agent: false }, (given) => {
			answer.writeHead(given.statusCode ?? 502, given.headers);
			given.pipe(answer);
		});
		sent.on('error', () => answer.destroy());
		asked.pipe(sent);
	});
	await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
	const { port } = server.address() as AddressInfo;
	const { pathname } = new URL(sandboxes[0]?.baseUrl ?? 'http://localhost/');
	return {
		baseUrl: `http://${LOOPBACK}:${port}${pathname}`,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
