import { createServer } from 'node:http';
import type { ICredentialDataDecryptedObject, IDataObject, INodeParameters } from 'n8n-workflow';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import { runNode } from '../harness';

/** An answer to GET /products: a body, or also its status and headers. */
export interface CatalogAnswer {
	status?: number;
	headers?: Record<string, string>;
	body: unknown;
}

export type Query = Record<string, string | undefined>;

/** A service whose GET /products answers whatever a test says, unlike the sandbox, which has one catalog. */
export interface CatalogService {
	/** Of the present account. */
	credentials(): Record<string, ICredentialDataDecryptedObject>;
	/** What was asked about it. */
	asked: Query[];
	/** Begins with another account, whose products are what `answer` says. */
	answers(answer: (query: Query) => CatalogAnswer): void;
	/** Runs Product > Get Many. */
	list(parameters?: INodeParameters): Promise<{ json: IDataObject[]; hints: string[] }>;
	close(): Promise<void>;
}

export async function openCatalogService(): Promise<CatalogService> {
	let answer: (query: Query) => CatalogAnswer = () => ({ status: 404, body: {} });
	let account = 0;
	const asked: Query[] = [];
	const server = createServer((request, response) => {
		const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
		const query = Object.fromEntries(searchParams);
		// A list may have ended while pages of it were still being fetched.
		if (pathname.startsWith(`/${account}/`)) asked.push(query);
		const { status = 200, headers, body } = answer(query);
		response.writeHead(status, { 'content-type': 'application/json', ...headers });
		response.end(JSON.stringify(body));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : undefined;
	const credentials = (): ReturnType<CatalogService['credentials']> => {
		const baseUrl = `http://127.0.0.1:${port}/${account}/v1`;
		return { digitalSalesApi: { baseUrl, apiToken: 'test-api-token-of-a-catalog' } };
	};
	return {
		credentials,
		asked,
		answers(next) {
			answer = next;
			account++;
			asked.length = 0;
			clearProcessWide();
		},
		async list(parameters = {}) {
			const { node, json, hints } = await runNode(
				{ resource: 'product', operation: 'getAll', simplify: false, ...parameters },
				{ credentials: credentials() },
			);
			if (node?.error) throw node.error;
			return { json, hints: hints.map(({ message }) => message) };
		},
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
