import { setMaxListeners } from 'node:events';
import fastify, { type FastifyInstance } from 'fastify';
import { registerApi } from './api/routes';
import { changeStatus } from './api/transactions';
import { type Fault, FaultBook } from './faults';
import { type DeliveryReport, Notifier } from './notifications';
import { BASE_PATH, DEFAULTS, type SandboxOptions } from './options';
import { registerPage } from './page';
import { RateLimiter, type RecordedRequest, RequestLog, type SandboxParts } from './parts';
import type { NoticeShape } from './shapes';
import { SandboxState } from './state';
import type { CreatedOffer, Product, StoredTransaction } from './types';

/** Starts a sandbox on the loopback interface. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const settings = { ...DEFAULTS, ...options };
	const faults = new FaultBook();
	const closing = new AbortController();
	// Each waiting request adds a listener, and hundreds may wait.
	setMaxListeners(0, closing.signal);
	const parts: SandboxParts = {
		settings,
		closing,
		faults,
		state: new SandboxState(settings.products),
		limiter: new RateLimiter(),
		log: new RequestLog(settings),
		notifier: new Notifier(settings, faults),
		origin: '',
	};
	const app = createServer();
	const sandbox = new Sandbox(app, parts);
	registerApi(app, parts);
	registerPage(app, parts, sandbox);
	parts.origin = await app.listen({ host: '127.0.0.1', port: settings.port });
	return sandbox;
}

function createServer(): FastifyInstance {
	const app = fastify({
		forceCloseConnections: true,
		exposeHeadRoutes: false,
		bodyLimit: 10 * 1024 * 1024,
		routerOptions: { maxParamLength: 2000 },
	});
	app.removeAllContentTypeParsers();
	// Keeps the text, because the simulated platform decides whether it is JSON, not the framework.
	app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
	return app;
}

/** A running simulation of the platform. */
export class Sandbox {
	readonly apiToken: string;
	readonly bodyApiToken: string;
	/** Every API request, oldest first. */
	readonly requests: RecordedRequest[];
	readonly products: readonly Product[];
	/** Offers created through the API. The seeded offers are in their products. */
	readonly offers: readonly CreatedOffer[];
	/** Oldest first. */
	readonly transactions: readonly StoredTransaction[];

	constructor(
		private readonly app: FastifyInstance,
		private readonly parts: SandboxParts,
	) {
		const { settings, log, state } = parts;
		this.apiToken = settings.apiToken;
		this.bodyApiToken = settings.bodyApiToken;
		this.requests = log.requests;
		this.products = state.products;
		this.offers = state.createdOffers;
		this.transactions = state.transactions;
	}

	/** The base URL with the version segment, e.g. `http://127.0.0.1:4010/api/public/v1`. */
	get baseUrl(): string {
		return `${this.parts.origin}${BASE_PATH}`;
	}

	/** The page on which a person pays and watches. */
	get pageUrl(): string {
		return `${this.parts.origin}/`;
	}

	/** The number of transactions in the platform, including refused transactions. */
	charges(): number {
		return this.transactions.length;
	}

	addFault(fault: Fault): void {
		this.parts.faults.add(fault);
	}

	clearFaults(): void {
		this.parts.faults.clear();
	}

	/** Changes payment_status and sends the notification. */
	async setStatus(hash: string, status: string): Promise<void> {
		await this.changeAndNotify(hash, status);
	}

	/** Marks the transaction as paid and sends the notification. Returns no report if it has no notification URL. */
	async pay(hash: string): Promise<DeliveryReport[]> {
		return await this.changeAndNotify(hash, 'paid');
	}

	/** Sends one notification of the current status, without repetitions. */
	async notify(
		hash: string,
		options: { shape?: NoticeShape; url?: string } = {},
	): Promise<DeliveryReport> {
		return await this.parts.notifier.send(this.findTransaction(hash), options);
	}

	/** Restores the seeded state. Drops faults, requests, rate-limit windows and repetitions. */
	reset(): void {
		this.parts.state.reset();
		this.parts.faults.clear();
		this.parts.limiter.reset();
		this.parts.notifier.reset();
		this.requests.length = 0;
	}

	async close(): Promise<void> {
		this.parts.closing.abort();
		this.parts.notifier.reset();
		await this.app.close();
		// Requests in progress may have started notifications.
		this.parts.notifier.reset();
	}

	private async changeAndNotify(hash: string, status: string): Promise<DeliveryReport[]> {
		const stored = this.findTransaction(hash);
		changeStatus(stored, status);
		return await this.parts.notifier.notifyOfStatus(stored);
	}

	private findTransaction(hash: string): StoredTransaction {
		const stored = this.parts.state.transaction(hash);
		if (!stored) throw new Error(`No transaction ${hash} in the sandbox`);
		return stored;
	}
}
