import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import range from 'lodash/range';
import { mapLimit } from '../../../nodes/DigitalSales/shared/mapLimit';
import { cartOf } from '../../host/e2e/stage/cart';
import { Stage } from '../../host/e2e/stage/stage';
import { chainOf, createPix, waitForPayment, webStart } from '../../host/e2e/stage/workflows';
import { CREDENTIAL_TYPE } from '../../host/n8n/paths';
import { cpf } from '../../support/cpf';
import type { StoredTransaction } from '../../sandbox';
import { post } from '../bench/bench';
import { LeanService } from '../bench/service';
import {
	createCharges,
	DONE,
	listProducts,
	paidSale,
	splitOut,
	startAndAnswer,
} from '../bench/workflows';
import { WITH_PROBE } from './probe';

/** How many of each the whole load has. */
export const LOAD = { notices: 20_000, charges: 5_000, listings: 500, waits: 200 };

/** What the package remembers at most: the trigger 10,000 notices, a charge two of 10,000 keys. */
const FILLED_BY = { notices: 10_000, charges: 5_000 };
/** Every so many notices tell of a sale that was not told of before. */
const NEW_SALE_EACH = 2;
const SENT_AT_ONCE = 10;
/** Of two at once, one is often answered while n8n starts the other, and takes three times as long. */
const WAITS_AT_ONCE = 1;
const CHARGES_A_RUN = 100;
const PRODUCTS = 137;
const FIRST_CPF = 300_000_000;
const POLL_MS = 50;
const WITHIN_MS = 60_000;
const PARKED_WITHIN_MS = 500;
/** Executions leave no record, and expressions cost only where there are some. */
const SETTINGS = { executionOrder: 'v1', saveDataSuccessExecution: 'none' };
const LAZY = { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' };

/**
 * The times of the answers in milliseconds: of the notices to one that starts a workflow, of the
 * charges to a run of 100, of the waits to the notice that n8n takes.
 */
export type Latencies = Record<keyof typeof LOAD, number[]>;

/** A real n8n with four workflows, and what makes them work. */
export class Load {
	private customers = 0;

	private constructor(
		private readonly stage: Stage,
		private readonly lean: LeanService,
	) {}

	static async open(): Promise<Load> {
		const limits = { requestsPerMinute: null, qrImage: 'absent', products: PRODUCTS } as const;
		const stage = await Stage.open('soak', limits, { ...WITH_PROBE, ...LAZY });
		const lean = await LeanService.open();
		const { rest, credential } = stage;
		const { apiToken } = lean;
		const account = { baseUrl: lean.baseUrl(0), apiToken };
		const reading = await rest.createCredential('Lean', CREDENTIAL_TYPE, account);
		const chains = [
			chainOf('notices', reading, [paidSale('notices'), DONE]),
			chainOf('charges', credential, [
				startAndAnswer('charges', 'noData'),
				splitOut('body.documents', 'document'),
				createCharges(stage.sandbox),
			]),
			chainOf('listings', credential, [
				startAndAnswer('listings', 'noData'),
				listProducts({ requestLimit: 1_000_000 }),
			]),
			chainOf('waits', credential, [
				webStart('waits'),
				createPix({ cart: cartOf(stage.sandbox), customerName: '={{ $json.body.customer }}' }),
				waitForPayment({}),
			]),
		];
		for (const chain of chains) {
			const saved = await rest.createWorkflow({ ...chain, settings: SETTINGS });
			await rest.publish(saved);
		}
		return new Load(stage, lean);
	}

	get pid(): number {
		return this.stage.pid;
	}

	/** Fills all that the package remembers up to its bounds. */
	async fill(part: number): Promise<void> {
		await this.notices(FILLED_BY.notices * part, 1);
		await this.charges(FILLED_BY.charges * part);
		this.stage.sandbox.reset();
	}

	/** Runs a part of the load; what it leaves behind ends soon after. */
	async run(part: number): Promise<Latencies> {
		const took = {
			notices: await this.notices(LOAD.notices * part, NEW_SALE_EACH),
			charges: await this.charges(LOAD.charges * part),
			listings: await this.listings(LOAD.listings * part),
			waits: await mapLimit(range(LOAD.waits * part), WAITS_AT_ONCE, async () => await this.wait()),
		};
		this.stage.sandbox.reset();
		return took;
	}

	async close(): Promise<void> {
		await this.stage.close();
		await this.lean.close();
	}

	/** Gives the times of the notices that tell of a new sale; the others are answered sooner or later. */
	private async notices(count: number, newSaleEach: number): Promise<number[]> {
		const sales: string[] = [];
		const took: number[] = [];
		await mapLimit(range(count), SENT_AT_ONCE, async (nth) => {
			const isNew = nth % newSaleEach === 0;
			if (isNew) sales.push(`s${randomUUID().slice(0, 12)}`);
			const [hash = ''] = sales.slice(-1);
			const body = { event: 'transaction', hash, payment_status: 'paid' };
			const ms = await timed(async () => await this.send('notices/digital-sales', body));
			if (isNew) took.push(ms);
		});
		return took;
	}

	private async charges(count: number): Promise<number[]> {
		const { sandbox } = this.stage;
		const before = sandbox.charges();
		const runs: number[] = [];
		while (runs.length * CHARGES_A_RUN < count) {
			const documents = Array.from({ length: CHARGES_A_RUN }, () => this.newCustomer());
			runs.push(await timed(async () => await this.send('charges', { documents })));
		}
		if (sandbox.charges() - before !== runs.length * CHARGES_A_RUN)
			throw new Error('Not every charge was made once.');
		return runs;
	}

	private async listings(count: number): Promise<number[]> {
		const took: number[] = [];
		while (took.length < count) {
			took.push(await timed(async () => await this.send('listings', {})));
		}
		return took;
	}

	private async send(path: string, body: object): Promise<void> {
		const to = `${this.stage.url}/webhook/${path}`;
		const deadline = Date.now() + WITHIN_MS;
		let { status, text } = await post(to, body);
		// While a transaction is being read, another notice of it is told to come again.
		while (status === 503 && Date.now() < deadline) {
			await pause(POLL_MS);
			({ status, text } = await post(to, body));
		}
		if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
	}

	private newCustomer(): string {
		return cpf(FIRST_CPF + this.customers++);
	}

	/** Parks an execution and has its charge paid; gives how long n8n took to take the notice. */
	private async wait(): Promise<number> {
		const { sandbox } = this.stage;
		const customer = `Customer ${this.newCustomer()}`;
		await this.send('waits', { customer });
		const deadline = Date.now() + WITHIN_MS;
		const parked = (): StoredTransaction | undefined => {
			const made = sandbox.transactions.find((one) => one.customer.name === customer);
			const isRead = sandbox.requests.some(
				({ method, path }) => method === 'GET' && path.endsWith(`/${made?.hash}`),
			);
			return isRead ? made : undefined;
		};
		while (!parked()) {
			if (Date.now() > deadline) throw new Error('A charge to wait for was not made.');
			await pause(POLL_MS);
		}
		// It has read the transaction, and parks.
		await pause(PARKED_WITHIN_MS);
		const hash = parked()?.hash ?? '';
		const start = performance.now();
		let [report] = await sandbox.pay(hash);
		while (report?.status !== 200) {
			if (Date.now() > deadline) throw new Error(`A wait answered ${report?.status}.`);
			await pause(POLL_MS);
			report = await sandbox.notify(hash);
		}
		return performance.now() - start;
	}
}

async function timed(work: () => Promise<unknown>): Promise<number> {
	const start = performance.now();
	await work();
	return performance.now() - start;
}
