import type { FastifyInstance, FastifyRequest } from 'fastify';
import { charge } from './api/transactions';
import { isRecord, type JsonObject, parseJson } from './http';
import type { DeliveryReport } from './notices';
import type { SandboxParts } from './parts';
import { qrImageBase64 } from './pix';
import { isNoticeShape, type NoticeShape } from './shapes';
import type { StoredTransaction } from './types';

/**
 * The newest transaction, or a paid sample if there is none, so that a receiver can be tried
 * before anything has been sold. A sample can be read back like any other and is no charge.
 */
async function newestOrSample(parts: SandboxParts): Promise<StoredTransaction> {
	const newest = parts.state.transactions[parts.state.transactions.length - 1];
	if (newest) return newest;
	const offer = parts.state.products[0]?.offers[0];
	if (!offer) throw new Error('The catalog is empty');
	return await charge(
		parts,
		{
			amount: offer.price,
			installments: 1,
			offerHash: offer.hash,
			items: [{ offerHash: offer.hash, operationType: 1 }],
			customer: {
				name: 'Maria Exemplo',
				email: 'maria@cliente.test',
				phone: '11900000000',
				document: '52998224725',
			},
			tracking: {
				src: null,
				utm_source: 'sandbox',
				utm_campaign: null,
				utm_content: null,
				utm_term: null,
				utm_medium: null,
			},
			notificationUrl: '',
		},
		{ sample: true, status: 'paid' },
	);
}

/** What a person, or a test, can have the service do. */
export interface SandboxControls {
	/** Changes payment_status and notifies; rejects for an unknown hash. */
	setStatus(hash: string, status: string): Promise<void>;
	/** Pays and notifies; the reports are of the first attempts, none without an address. */
	pay(hash: string): Promise<DeliveryReport[]>;
	/** Sends one notice of the current status, without re-sending it. */
	notify(hash: string, options?: { shape?: NoticeShape; url?: string }): Promise<DeliveryReport>;
	/** State back to the seed; faults, requests, rate-limit windows and re-sends gone. */
	reset(): void;
}

/** The controls over HTTP, for the page. */
export function registerControls(
	app: FastifyInstance,
	parts: SandboxParts,
	sandbox: SandboxControls,
): void {
	registerTransactions(app, parts, sandbox);
	app.post('/sandbox/reset', () => {
		sandbox.reset();
		return { ok: true };
	});
	app.get<{ Params: { name: string } }>('/sandbox/qr/:name', async (request, reply) => {
		const stored = parts.state.transaction(request.params.name.replace(/\.png$/, ''));
		const pix = stored?.pix;
		const image = pix && (pix.qr_code_base64 ?? (await qrImageBase64(pix.pix_qr_code)));
		if (!image) return await reply.code(404).send({ message: 'No such code' });
		void reply.header('content-type', 'image/png').header('cache-control', 'max-age=86400');
		return await reply.send(Buffer.from(image, 'base64'));
	});
}

function registerTransactions(
	app: FastifyInstance,
	parts: SandboxParts,
	sandbox: SandboxControls,
): void {
	app.post<{ Params: { hash: string } }>(
		'/sandbox/transactions/:hash/pay',
		async (request, reply) => {
			const { hash } = request.params;
			if (!parts.state.transaction(hash)) return await reply.code(404).send(unknown(hash));
			return { hash, payment_status: 'paid', deliveries: await sandbox.pay(hash) };
		},
	);
	app.post<{ Params: { hash: string } }>(
		'/sandbox/transactions/:hash/status',
		async (request, reply) => {
			const { hash } = request.params;
			const { status } = bodyOf(request);
			if (!parts.state.transaction(hash)) return await reply.code(404).send(unknown(hash));
			if (typeof status !== 'string' || status === '') {
				return await reply.code(400).send({ message: 'status is a text' });
			}
			await sandbox.setStatus(hash, status);
			return { hash, payment_status: status };
		},
	);
	app.post('/sandbox/test-notice', async (request, reply) => {
		const body = bodyOf(request);
		const { url } = urlOf(body);
		if (url === undefined) return await reply.code(400).send({ message: 'url is a text' });
		const stored = await newestOrSample(parts);
		return await sandbox.notify(stored.hash, { ...shapeOf(body), url });
	});
}

function unknown(hash: string): { message: string } {
	return { message: `No transaction ${hash}` };
}

function bodyOf(request: FastifyRequest): JsonObject {
	const body = parseJson(request.body);
	return isRecord(body) ? body : {};
}

function shapeOf({ shape }: JsonObject): { shape?: NoticeShape } {
	return isNoticeShape(shape) ? { shape } : {};
}

function urlOf({ url }: JsonObject): { url?: string } {
	return typeof url === 'string' && url !== '' ? { url } : {};
}
