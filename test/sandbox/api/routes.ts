import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
	type AnswerFault,
	answerOf,
	changeAnswer,
	type Endpoint,
	isProcessed,
	type RawRequest,
} from '../faults';
import {
	type Answer,
	bodyText,
	failure,
	flatQuery,
	html,
	json,
	parseJson,
	sendAnswer,
	sendCut,
	sendEndlessly,
	sendReset,
	sendSlowly,
	strangePage,
} from '../http';
import { BASE_PATH } from '../options';
import type { ApiRequest, RecordedRequest, SandboxParts } from '../parts';
import { createOffer, listProducts } from './catalog';
import { createTransaction, readTransactionByHash } from './transactions';

export type Handler = (request: ApiRequest) => Answer | Promise<Answer>;

/**
 * The way of every API request: log, faults in front of the service, bearer check, rate limit,
 * handler, faults behind it. The fault that answers sits where a proxy would: unless it is
 * `processed`, the service behind never sees the request, and no budget is spent.
 */
function serve(parts: SandboxParts, endpoint: Endpoint, handler: Handler) {
	return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
		reply.hijack();
		const raw = toRaw(request);
		const query = flatQuery(request.query);
		const entry = parts.log.open({ ...raw, query });
		const faults = parts.faults.strikeRequest(endpoint, query);
		entry.faults = faults.kinds;
		const params = toParams(request.params);
		const call = { params, query, body: inputOf(request), faults };
		try {
			await parts.clock.sleep(parts.settings.latencyMs + (faults.of('delay')?.ms ?? 0));
			const fault = faults.answer;
			const real =
				fault && !isProcessed(fault)
					? json(200, {})
					: changeAnswer(await work(parts, endpoint, entry, call, handler), faults);
			await parts.clock.sleep(faults.of('delayAfterProcessing')?.ms ?? 0);
			const status = deliver(reply.raw, real, fault, raw);
			parts.log.close(entry, status);
		} catch (error) {
			parts.log.close(entry, null);
			if (parts.clock.stopped) reply.raw.destroy();
			else sendAnswer(reply.raw, failure(500, `Sandbox error: ${String(error)}`));
		}
	};
}

async function work(
	parts: SandboxParts,
	endpoint: Endpoint,
	entry: RecordedRequest,
	call: ApiRequest,
	handler: Handler,
): Promise<Answer> {
	const { settings } = parts;
	if (!entry.bearer) return failure(401, 'Unauthenticated.');
	const limits: Partial<Record<Endpoint, number | null>> = {
		'GET /products': settings.requestsPerMinute,
		'GET /transactions/{hash}': settings.readsPerMinute,
	};
	const ruling = parts.limiter.check(`${endpoint} ${settings.apiToken}`, limits[endpoint] ?? null);
	if (!ruling.allowed) return json(429, { message: 'Too Many Attempts.' }, ruling.headers);
	const answer = await handler(call);
	return { ...answer, headers: { ...answer.headers, ...ruling.headers } };
}

/** Sends what the fault makes of the real answer; returns the status sent, null for none. */
function deliver(
	response: ServerResponse,
	real: Answer,
	fault: AnswerFault | undefined,
	raw: RawRequest,
): number | null {
	if (!fault) {
		sendAnswer(response, real);
		return real.status;
	}
	switch (fault.kind) {
		case 'resetBeforeProcessing':
		case 'resetAfterProcessing':
			sendReset(response);
			return null;
		case 'truncatedBody': {
			const keep = fault.keep ?? 0.5;
			const text = bodyText(real);
			if (fault.mode === 'short') {
				sendAnswer(response, { ...real, text: () => text.slice(0, text.length * keep) });
			} else sendCut(response, real, keep);
			return real.status;
		}
		case 'slowBody':
			void sendSlowly(response, real, fault.ms);
			return real.status;
		case 'endlessBody':
			sendEndlessly(response, real);
			return real.status;
		default: {
			const answer = answerOf(fault, raw);
			if (fault.kind === 'status' && fault.isCut) sendCut(response, answer, 0.5);
			else sendAnswer(response, answer);
			return answer.status;
		}
	}
}

function toRaw(request: FastifyRequest): RawRequest {
	const { method, url, headers, body } = request;
	return { method, url, headers, body: parseJson(body) ?? (body === '' ? undefined : body) };
}

/** Without the header that says JSON the service takes the body for empty, as Laravel does. */
function inputOf(request: FastifyRequest): unknown {
	const type = request.headers['content-type'] ?? '';
	return /[/+]json\b/i.test(type) ? parseJson(request.body) : undefined;
}

function toParams(params: unknown): Record<string, string> {
	return flatQuery(params);
}

/** The four operations of the document, and the answer to any other route. */
export function registerApi(app: FastifyInstance, parts: SandboxParts): void {
	app.get(`${BASE_PATH}/products`, serve(parts, 'GET /products', listProducts(parts)));
	app.post(
		`${BASE_PATH}/products/:hash/offers`,
		serve(parts, 'POST /products/{hash}/offers', createOffer(parts)),
	);
	app.post(
		`${BASE_PATH}/transactions`,
		serve(parts, 'POST /transactions', createTransaction(parts)),
	);
	app.get(
		`${BASE_PATH}/transactions/:hash`,
		serve(parts, 'GET /transactions/{hash}', readTransactionByHash(parts)),
	);
	app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
		const raw = toRaw(request);
		const path = raw.url.split('?')[0] ?? '';
		const answer = strayAnswer(raw.method, path);
		if (!path.startsWith('/sandbox/')) {
			const entry = parts.log.open({ ...raw, query: flatQuery(request.query) });
			parts.log.close(entry, answer.status);
		}
		reply.hijack();
		sendAnswer(reply.raw, answer);
	});
}

/** Inside the base path a JSON 404; outside a web page, the sign of a wrong base URL. */
function strayAnswer(method: string, path: string): Answer {
	if (path === BASE_PATH || path.startsWith(`${BASE_PATH}/`)) {
		return failure(404, `The route ${path} could not be found.`);
	}
	if (path.startsWith('/sandbox/')) return failure(404, 'No such control.');
	if (path.startsWith('/wrong/')) return html(404, strangePage('404', 'Página não encontrada.'));
	if (method !== 'GET') return html(405, strangePage('405', 'Método não permitido.'));
	return html(200, strangePage('Bem-vindo', 'Venda seus produtos digitais conosco.'));
}
