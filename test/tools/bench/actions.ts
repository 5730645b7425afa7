import { cpf } from '../../helpers/charge';
import { action, cartOf, createPix, split } from '../../helpers/e2e/workflows';
import type { N8n } from '../../helpers/n8n/n8n';
import { startSandbox } from '../../sandbox';
import { inTurn, type Row, row } from './measure';
import { httpRequest, leanPlatform, openAccount, side } from './sides';

const PRODUCTS = 1_500;
const PAGE_SIZE = 100;
const GETS = 500;
const CHARGES = 100;
const CHARGES_AT_ONCE = 4;
const ANSWER_MS = 500;

/** Pagination by number, for a user who knows the parameter of the page size. */
const PAGED = {
	sendQuery: true,
	queryParameters: { parameters: [{ name: 'per_page', value: String(PAGE_SIZE) }] },
	options: {
		pagination: {
			pagination: {
				paginationMode: 'updateAParameterInEachRequest',
				parameters: { parameters: [{ type: 'qs', name: 'page', value: '={{ $pageCount + 1 }}' }] },
				paginationCompleteWhen: 'other',
				completeExpression: '={{ $response.body.links.next === null }}',
			},
		},
	},
};

/** Whole products from a platform that is 50 ms away. The peer is HTTP Request with pages, and Split Out. */
export async function list(n8n: N8n): Promise<Row[]> {
	const open = async () => {
		const platform = { products: PRODUCTS, maxPageSize: PAGE_SIZE, latencyMs: 50 };
		return await openAccount(n8n, await startSandbox({ ...platform, requestsPerMinute: null }));
	};
	const all = action('List', 'product', 'getAll', { returnAll: true, simplify: false });
	const requests: number[] = [];
	// Each list has an account of its own, because an account may list twenty pages a minute.
	const ours = async (): Promise<number> => {
		const account = await open();
		const ms = await (await side(account, [all]))();
		requests.push(account.platform.requests.length);
		return ms;
	};
	const account = await open();
	const http = httpRequest(account, '/products', PAGED);
	const peer = await side(account, [http, split('Split Out', 'data')]);
	const { ms } = await inTurn(n8n, { ours, peer });

	const what = `${PRODUCTS} products, ${PAGE_SIZE} a page`;
	return [
		row(what, ms, 0.5),
		row(what, { ours: Math.max(...requests) }, PRODUCTS / PAGE_SIZE, 'requests'),
	];
}

/** One transaction for each item, from a fast platform. HTTP Request sends all it can before the first answer. */
export async function gets(n8n: N8n): Promise<Row[]> {
	const items = split('Split Out', 'body.sales');
	const form = { transactionHash: '={{ $json.hash }}', simplify: false };
	const get = action('Get', 'transaction', 'get', form);
	const sales = Array.from({ length: GETS }, (_, nth) => ({ hash: `bench${nth}` }));

	const rows: Row[] = [];
	for (const latencyMs of [50, 0]) {
		const account = await openAccount(n8n, await leanPlatform(n8n.sandbox, latencyMs));
		const http = httpRequest(account, '/transactions/{{ $json.hash }}');
		const ours = await side(account, [items, get], () => ({ sales }));
		const peer = await side(account, [items, http], () => ({ sales }));
		const { ms } = await inTurn(n8n, { ours, peer });
		rows.push(row(`${GETS} × Get at ${latencyMs} ms`, ms, 0.9));
	}
	return rows;
}

/** A list of different customers at a slow platform. The floor is what it takes to answer four at once. */
export async function charges(n8n: N8n): Promise<Row[]> {
	const sandbox = await startSandbox({ latencyMs: ANSWER_MS, qrImage: 'absent' });
	const charge = createPix({
		cart: cartOf(sandbox),
		customerDocument: '={{ $json.document }}',
		webhooksGoTo: 'none',
		qrCodeImage: false,
	});
	const account = await openAccount(n8n, sandbox);
	let next = 200_000_000;
	const customers = () => Array.from({ length: CHARGES }, () => ({ document: cpf(next++) }));
	const nodes = [split('Split Out', 'body.customers'), charge];
	const run = await side(account, nodes, () => ({ customers: customers() }));

	const requests: number[] = [];
	const ours = async (): Promise<number> => {
		sandbox.reset();
		const ms = await run();
		if (sandbox.charges() !== CHARGES) throw new Error(`Not ${CHARGES} customers charged once.`);
		requests.push(sandbox.requests.length);
		return ms;
	};
	const { ms } = await inTurn(n8n, { ours });
	const floor = (CHARGES / CHARGES_AT_ONCE) * ANSWER_MS;

	const what = `${CHARGES} charges at ${ANSWER_MS} ms`;
	return [
		row(what, { ...ms, floor }, 1.3),
		row(what, { ours: Math.max(...requests) }, CHARGES, 'requests'),
	];
}
