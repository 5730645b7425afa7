import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pause } from '../clock';
import {
	type AnswerFault,
	makeFaultAnswer,
	applyAnswerFaults,
	type Endpoint,
	isProcessed,
	type RawRequest,
} from '../faults';
import {
	type Answer,
	failureAnswer,
	flattenQuery,
	htmlAnswer,
	jsonAnswer,
	parseJson,
	sendAnswer,
	sendCut,
	sendEndlessly,
	sendShort,
	sendSlowly,
	foreignPage,
	tooManyRequests,
} from '../http';
import { BASE_PATH } from '../options';
import type { ApiRequest, SandboxParts } from '../parts';
import { createOffer, listProducts } from './catalog';
import { createTransaction, readTransactionByHash } from './transactions';

type Handler = (request: ApiRequest) => Answer | Promise<Answer>;

/**
 * Handles every API request: log, faults before the platform, bearer check, rate limit, handler, faults after the
 * service. A fault that replaces the answer acts like a proxy: unless it is `processed`, the platform does not get
 * the request, and the rate limit does not count it.
 */
function handleRequest(parts: SandboxParts, endpoint: Endpoint, handler: Handler) {
	return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
		reply.hijack();
		const raw = toRawRequest(request);
		const query = flattenQuery(request.query);
		const entry = parts.log.open({ ...raw, query });
		const { signal } = parts.closing;
		const faults = parts.faults.strikeRequest(endpoint, query);
		const call = { params: flattenQuery(request.params), query, body: parseInput(request), faults };
		try {
			await pause(parts.settings.latencyMs + (faults.of('delay')?.ms ?? 0), signal);
			const fault = faults.answer;
			const real =
				fault && !isProcessed(fault)
					? jsonAnswer(200, {})
					: applyAnswerFaults(
							entry.bearer
								? await answerAsService(parts, endpoint, call, handler)
								: failureAnswer(401, 'Unauthenticated.'),
							faults,
						);
			await pause(faults.of('delayAfterProcessing')?.ms ?? 0, signal);
			parts.log.close(entry, sendWithFault(reply.raw, real, fault, raw));
		} catch (error) {
			parts.log.close(entry, null);
			if (signal.aborted) reply.raw.destroy();
			else sendAnswer(reply.raw, failureAnswer(500, `Sandbox error: ${String(error)}`));
		}
	};
}

async function answerAsService(
	{ settings, limiter }: SandboxParts,
	endpoint: Endpoint,
	call: ApiRequest,
	handler: Handler,
): Promise<Answer> {
	const limits: Partial<Record<Endpoint, number | null>> = {
		'GET /products': settings.requestsPerMinute,
		'GET /transactions/{hash}': settings.readsPerMinute,
	};
	const seconds = limiter.admit(endpoint, limits[endpoint] ?? null);
	return seconds === undefined ? await handler(call) : tooManyRequests(seconds);
}

/** Sends the answer as the fault demands. Returns the sent status, or null if nothing was sent. */
function sendWithFault(
	response: ServerResponse,
	real: Answer,
	fault: AnswerFault | undefined,
	raw: RawRequest,
): number | null {
	const answer = (fault && makeFaultAnswer(fault, raw)) ?? real;
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

function toRawRequest(request: FastifyRequest): RawRequest {
	const { method, url, headers, body } = request;
	return { method, url, headers, body: parseJson(body) ?? (body === '' ? undefined : body) };
}

/** Without the JSON content type the platform treats the body as empty, as Laravel does. */
function parseInput(request: FastifyRequest): unknown {
	const type = request.headers['content-type'] ?? '';
	return /[/+]json\b/i.test(type) ? parseJson(request.body) : undefined;
}

/** Registers the four operations of the document, and the answer to any other route. */
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
		app.route({ method, url, handler: handleRequest(parts, endpoint, endpoints[endpoint]) });
	}
	app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
		const raw = toRawRequest(request);
		const answer = answerUnknownRoute(raw.method, raw.url.split('?')[0] ?? '');
		parts.log.close(parts.log.open({ ...raw, query: flattenQuery(request.query) }), answer.status);
		reply.hijack();
		sendAnswer(reply.raw, answer);
	});
}

/** A JSON 404 inside the base path; outside, a web page, the sign of a wrong base URL. */
function answerUnknownRoute(method: string, path: string): Answer {
	if (path === BASE_PATH || path.startsWith(`${BASE_PATH}/`)) {
		return failureAnswer(404, `The route ${path} could not be found.`);
	}
	if (path.startsWith('/wrong/'))
		return htmlAnswer(404, foreignPage('404', 'Página não encontrada.'));
	if (method !== 'GET') return htmlAnswer(405, foreignPage('405', 'Método não permitido.'));
	return htmlAnswer(200, foreignPage('Bem-vindo', 'Venda seus produtos digitais conosco.'));
}
