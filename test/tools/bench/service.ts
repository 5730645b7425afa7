import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOPBACK } from '../../host/n8n/processes';

const TOKEN = 'test-bench-token-1234567890';

/**
 * A lean simulation of the service for rows in which the sandbox would be the slower side: it serves
 * transactions, and counts. What it sends is what the sandbox sends.
 */
export class LeanService {
	readonly apiToken = TOKEN;

	/** The most requests under way at one time, since the last {@link resetCounts}. */
	mostAtOnce = 0;
	/** Before each answer, in milliseconds. */
	latencyMs = 0;

	private atOnce = 0;
	private readonly server = createServer((request, response) => {
		void this.answer(request, response);
	});

	private constructor() {}

	/** Listens on the loopback address. */
	static async open(): Promise<LeanService> {
		const service = new LeanService();
		await new Promise<void>((resolve) => service.server.listen(0, LOOPBACK, resolve));
		return service;
	}

	get baseUrl(): string {
		const { port } = this.server.address() as AddressInfo;
		return `http://${LOOPBACK}:${port}/public/v1`;
	}

	resetCounts(): void {
		this.mostAtOnce = this.atOnce;
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}

	private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		this.atOnce++;
		this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
		if (this.latencyMs > 0) await pause(this.latencyMs);
		const body = this.body(request);
		response.writeHead(body === undefined ? 404 : 200, {
			'content-type': 'application/json',
			'content-length': body?.length ?? 0,
		});
		this.atOnce--;
		response.end(body);
	}

	private body(request: IncomingMessage): Buffer | undefined {
		if (request.headers.authorization !== `Bearer ${TOKEN}`) return undefined;
		const hash = /\/transactions\/([^/?]+)$/.exec(request.url ?? '')?.[1];
		return hash === undefined ? undefined : transaction(hash);
	}
}

/** A paid transaction in the documented shape. */
function transaction(hash: string): Buffer {
	return Buffer.from(
		JSON.stringify({
			event: 'transaction',
			hash,
			payment_method: 'pix',
			payment_status: 'paid',
			installments: 1,
			pix: {
				pix_url: `https://pay.sandbox.test/pix/${hash}`,
				pix_qr_code: `00020126580014br.gov.bcb.pix0136${hash}`,
				qr_code_base64: null,
			},
			billet: null,
			amount: 1990,
			amount_liquid: 1791,
			transaction: `ref-${hash}`,
			utm_source: null,
			utm_campaign: null,
			utm_content: null,
			utm_term: null,
			utm_medium: null,
			customer: {
				hash: 'cust4k2m9x',
				name: 'Maria da Silva',
				email: 'maria@example.test',
				phone_number: '11987654321',
				document: '52998224725',
			},
			producer: { hash: 'prod7k2m9x', name: 'Escola', email: 'produtor@example.test' },
			affiliate: null,
			split_recipients: [
				{ recipient_type: 'producer', amount: '1791' },
				{ recipient_type: 'platform', amount: '199' },
			],
			offer: { hash: 'offer12345', title: 'Oferta', price: 1990, installments: 1 },
			product: {
				hash: 'product123',
				title: 'Curso',
				cover: 'https://cdn.sandbox.test/covers/product123.jpg',
				status: 'active',
			},
			items: [{ hash: 'item123456', product_id: 1001, operation_type: 1 }],
			balance: { amount: 1791, status: 'available' },
			postback_url: 'https://n8n.example.test/webhook',
			created_at: '2024-01-08 09:00:00',
			updated_at: '2024-01-08 09:05:00',
		}),
	);
}
