import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { strangePage } from '../http/htmlPages';
import { flatQuery } from '../http/json';
import { sendAnswer } from '../http/send';
import { failure, html, type Answer } from './answer';
import type { SandboxParts } from './context';
import { createOffer } from './offers';
import { serve, toRaw } from './pipeline';
import { listProducts } from './products';
import { createTransaction, readTransactionByHash } from './transactions';

/** The four operations of the document, and the answer to any other route. */
export function registerApi(app: FastifyInstance, parts: SandboxParts): void {
	const base = parts.settings.basePath;
	app.get(`${base}/products`, serve(parts, 'GET /products', listProducts(parts)));
	app.post(
		`${base}/products/:hash/offers`,
		serve(parts, 'POST /products/{hash}/offers', createOffer(parts)),
	);
	app.post(`${base}/transactions`, serve(parts, 'POST /transactions', createTransaction(parts)));
	app.get(
		`${base}/transactions/:hash`,
		serve(parts, 'GET /transactions/{hash}', readTransactionByHash(parts)),
	);
	app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
		const raw = toRaw(request);
		const path = raw.url.split('?')[0] ?? '';
		const answer = strayAnswer(raw.method, path, base);
		if (!path.startsWith('/sandbox/')) {
			const entry = parts.log.open({ ...raw, query: flatQuery(request.query) });
			parts.log.close(entry, answer.status);
		}
		reply.hijack();
		sendAnswer(reply.raw, answer);
	});
}

/** Inside the base path a JSON 404; outside a web page, the sign of a wrong base URL. */
function strayAnswer(method: string, path: string, base: string): Answer {
	if (path === base || path.startsWith(`${base}/`)) {
		return failure(404, `The route ${path} could not be found.`);
	}
	if (path.startsWith('/sandbox/')) return failure(404, 'No such control.');
	if (path.startsWith('/wrong/')) return html(404, strangePage('404', 'Página não encontrada.'));
	if (method !== 'GET') return html(405, strangePage('405', 'Método não permitido.'));
	return html(200, strangePage('Bem-vindo', 'Venda seus produtos digitais conosco.'));
}
