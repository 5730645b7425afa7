import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pause } from '../clock';
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
	failure,
	flatQuery,
	html,
	json,
	parseJson,
	sendAnswer,
	sendCut,
	sendEndlessly,
	sendShort,
	sendSlowly,
	strangePage,
	tooMany,
} from '../http';
import { BASE_PATH } from '../options';
import type { ApiRequest, SandboxParts } from '../parts';
import { createOffer, listProducts } from './catalog';
import { createTransaction, readTransactionByHash } from './transactions';

type Handler = (request: ApiRequest) => Answer | Promise<Answer>;

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
		const { signal } = parts.closing;
		const faults = parts.faults.strikeRequest(endpoint, query);
		const call = { params: flatQuery(request.params), query, body: inputOf(request), faults };
		try {
			await pause(parts.settings.latencyMs + (faults.of('delay')?.ms ?? 0), signal);
			const fault = faults.answer;
			const real =
				fault && !isProcessed(fault)
					? json(200, {})
					: changeAnswer(
							entry.bearer
								? await work(parts, endpoint, call, handler)
								: failure(401, 'Unauthenticated.'),
							faults,
						);
			await pause(faults.of('delayAfterProcessing')?.ms ?? 0, signal);
			parts.log.close(entry, deliver(reply.raw, real, fault, raw));
		} catch (error) {
			parts.log.close(entry, null);
			if (signal.aborted) reply.raw.destroy();
			else sendAnswer(reply.raw, failure(500, `Sandbox error: ${String(error)}`));
		}
	};
}

async function work(
	{ settings, limiter }: SandboxParts,
	endpoint: Endpoint,
	call: ApiRequest,
	handler: Handler,
): Promise<Answer> {
	const limits: Partial<Record<Endpoint, number | null>> = {
		'GET /products': settings.requestsPerMinute,
		'GET /transactions/{hash}': settings.readsPerMinute,
	};
	const seconds = limiter.take(endpoint, limits[endpoint] ?? null);
	return seconds === undefined ? await handler(call) : tooMany(seconds);
}

/** Sends what the fault makes of the real answer; returns the status sent, null for none. */
function deliver(
	response: ServerResponse,
	real: Answer,
	fault: AnswerFault | undefined,
	raw: RawRequest,
): number | null {
	const answer = (fault && answerOf(fault, raw)) ?? real;
	switch (fault?.kind) {
		case 'resetBeforeProcessing':
		case 'resetAfterProcessing':
			response.socket?.resetAndDestroy();
			return null;
		case 'truncatedBody':
			(fault.mode === 'short' ? sendShort : sendCut)(response, answer);
			break;
		case 'slowBody':
			void sendSlowly(response, answer, fault.ms);
			break;
		case 'endlessBody':
			sendEndlessly(response, answer);
			break;
		case 'status':
			(fault.isCut ? sendCut : sendAnswer)(response, answer);
			break;
		default:
			sendAnswer(response, answer);
	}
	return answer.status;
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

/** The four operations of the document, and the answer to any other route. */
export function registerApi(app: FastifyInstance, parts: SandboxParts): void {
	const endpoints: Record<Endpoint, Handler> = {
		'GET /products': listProducts(parts),
		'POST /products/{hash}/offers': createOffer(parts),
		'POST /transactions': createTransaction(parts),
		'GET /transactions/{hash}': readTransactionByHash(parts),
	};
	for (const endpoint of Object.keys(endpoints) as Endpoint[]) {
		const [method = '', path = ''] = endpoint.split(' ');
		const url = BASE_PATH + path.replace('{hash}', ':hash');
		app.route({ method, url, handler: serve(parts, endpoint, endpoints[endpoint]) });
	}
	app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
		const raw = toRaw(request);
		const answer = strayAnswer(raw.method, raw.url.split('?')[0] ?? '');
		parts.log.close(parts.log.open({ ...raw, query: flatQuery(request.query) }), answer.status);
		reply.hijack();
		sendAnswer(reply.raw, answer);
	});
}

/** Inside the base path a JSON 404; outside a web page, the sign of a wrong base URL. */
function strayAnswer(method: string, path: string): Answer {
	if (path === BASE_PATH || path.startsWith(`${BASE_PATH}/`)) {
		return failure(404, `The route ${path} could not be found.`);
	}
	if (path.startsWith('/wrong/')) return html(404, strangePage('404', 'Página não encontrada.'));
	if (method !== 'GET') return html(405, strangePage('405', 'Método não permitido.'));
	return html(200, strangePage('Bem-vindo', 'Venda seus produtos digitais conosco.'));
}
