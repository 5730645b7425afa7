import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOPBACK } from '../../host/n8n/processes';
import { paginate } from '../../sandbox/api/paginate';
import { seedCatalog } from '../../sandbox/catalog';
import type { Product } from '../../sandbox/types';

const TOKEN = 'test-bench-token-1234567890';
const DEFAULT_PAGE_SIZE = 30;
const LARGEST_PAGE_SIZE = 100;

/**
 * A lean simulation of the service for rows in which the sandbox would be the slower side: it serves pages and
 * transactions that are ready as bytes, and counts. What it sends is what the sandbox sends.
 */
export class LeanService {
	readonly apiToken = TOKEN;

	/** Requests since the last {@link resetCounts}. */
	requests = 0;
	/** The most of them that were under way at one time. */
	mostAtOnce = 0;
	/** Before each answer, in milliseconds. */
	latencyMs = 0;

	private atOnce = 0;
	private readonly pages = new Map<string, Buffer>();
	private catalog: Product[] = [];
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

	/** The base URL of an account with so many products. */
	baseUrl(products: number): string {
		return `${this.origin}/${products}/public/v1`;
	}

	/** Makes the pages of a catalog ready, so that no answer waits for them. */
	prepare(products: number, pageSizes: readonly number[]): void {
		for (const perPage of pageSizes) {
			for (let page = 1; page <= Math.ceil(products / perPage); page++) {
				this.page(products, page, perPage);
			}
		}
	}

	resetCounts(): void {
		this.requests = 0;
		this.mostAtOnce = this.atOnce;
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}

	private get origin(): string {
		const { port } = this.server.address() as AddressInfo;
		return `http://${LOOPBACK}:${port}`;
	}

	private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		this.requests++;
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
		const { pathname, searchParams } = new URL(request.url ?? '/', this.origin);
		const [, products, , , resource, hash] = pathname.split('/');
		if (resource === 'transactions' && hash !== undefined) return transaction(hash);
		if (resource !== 'products') return undefined;
		const asked = Number(searchParams.get('per_page') ?? DEFAULT_PAGE_SIZE);
		const page = Number(searchParams.get('page') ?? 1);
		return this.page(Number(products), page, Math.min(asked, LARGEST_PAGE_SIZE));
	}

	private page(products: number, page: number, perPage: number): Buffer {
		const key = `${products} ${page} ${perPage}`;
		let text = this.pages.get(key);
		if (!text) {
			if (this.catalog.length < products) this.catalog = seedCatalog(products);
			const path = `${this.baseUrl(products)}/products`;
			const listed = this.catalog.slice(0, products);
			const made = paginate(listed, { page, perPage, path, pageName: 'page' });
			text = Buffer.from(JSON.stringify(made));
			this.pages.set(key, text);
		}
		return text;
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
