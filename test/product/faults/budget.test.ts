import { runNode } from '../engine/harness';
import { startSandbox, type Sandbox } from '../../sandbox';
import { Figures } from '../../support/figures';
import { useTimeLapse } from '../../support/timeLapse';
import { builtPackage, forgetEverything } from './builtPackage';

const LIMIT = 20;
const WINDOW_SECONDS = 60;

const figures = new Figures(
	"Listing under 20 requests a minute, in n8n's own engine",
	'npm run e2e -- thorough',
);

describe('Listing under 20 requests a minute', () => {
	let sandbox: Sandbox;

	useTimeLapse();

	beforeEach(() => forgetEverything());
	afterEach(async () => await sandbox.close());
	afterAll(() => figures.show());

	test.each([
		{ products: 137, pageSize: 30, executions: 1 },
		{ products: 3_000, pageSize: 30, executions: 1 },
		{ products: 600, pageSize: 30, executions: 4 },
	])('$products products by $executions at once', async ({ products, pageSize, executions }) => {
		sandbox = await startSandbox({
			products,
			maxPageSize: pageSize,
			requestsPerMinute: LIMIT,
			rateLimitWindow: 'sliding',
		});
		const started = Date.now();
		const runs = await Promise.all(
			Array.from(
				{ length: executions },
				async () =>
					await runNode(
						{ resource: 'product', operation: 'getAll', returnAll: true },
						{
							credentials: {
								digitalSalesApi: { baseUrl: sandbox.baseUrl, apiToken: sandbox.apiToken },
							},
							process: builtPackage,
						},
					),
			),
		);

		const seconds = (Date.now() - started) / 1_000;
		const requests = sandbox.requests.length;
		const allowed = Math.floor((requests - 1) / LIMIT) * WINDOW_SECONDS;
		const limited = sandbox.requests.filter(({ status }) => status === 429).length;
		figures.add(
			`${products} products, ${executions} at once, ${pageSize} a page`,
			requests,
			allowed === 0
				? `one burst of ${seconds.toFixed(2)} s; ${limited} answered 429`
				: `${seconds.toFixed(2)} s where the limit allows ${allowed.toFixed(2)} s: ratio ${(seconds / allowed).toFixed(3)}; ${limited} answered 429`,
		);
		expect(runs.map(({ json }) => json.length)).toEqual(runs.map(() => products));
		expect(requests).toBe(executions * Math.ceil(products / pageSize));
		expect(limited).toBe(0);
		// A single request too many in the own count costs a whole window.
		expect(seconds).toBeLessThan(allowed + WINDOW_SECONDS);
	});
});
