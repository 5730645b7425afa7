import { createServer } from 'node:http';
import type { INodeParameters } from 'n8n-workflow';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import { runNode } from '../harness';

/** An answer to GET /products: a body, or also its status. */
export interface CatalogAnswer {
	status?: number;
	body: unknown;
}

type Query = Record<string, string | undefined>;

export type CatalogService = Awaited<ReturnType<typeof openCatalogService>>;

/** A service whose GET /products answers whatever a test says, unlike the sandbox, which has one catalog. */
export async function openCatalogService() {
	let answer: (query: Query) => CatalogAnswer = () => ({ status: 404, body: {} });
	let account = 0;
	const asked: Query[] = [];
	const server = createServer((request, response) => {
		const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
		const query = Object.fromEntries(searchParams);
		// A list may have ended while pages of it were still being fetched.
		if (pathname.startsWith(`/${account}/`)) asked.push(query);
		const { status = 200, body } = answer(query);
		response.writeHead(status, { 'content-type': 'application/json' });
		response.end(JSON.stringify(body));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : undefined;
	return {
		/** What was asked about the products of the present account. */
		asked,
		/** Begins with another account, whose products are what `next` says. */
		answers(next: typeof answer): void {
			answer = next;
			account++;
			asked.length = 0;
			clearProcessWide();
		},
		/** Runs Product > Get Many. */
		async list(parameters: INodeParameters = {}) {
			const baseUrl = `http://127.0.0.1:${port}/${account}/v1`;
			const digitalSalesApi = { baseUrl, apiToken: 'test-api-token-of-a-catalog' };
			const { node, json, hints } = await runNode(
				{ resource: 'product', operation: 'getAll', simplify: false, ...parameters },
				{ credentials: { digitalSalesApi } },
			);
			if (node?.error) throw node.error;
			return { json, hints: hints.map(({ message }) => message) };
		},
		async close(): Promise<void> {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
