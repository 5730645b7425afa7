import { cpf } from '../../helpers/charge';
import { ACTION, cartOf, createPix, type NodeSketch } from '../../helpers/e2e/workflows';
import type { Bench } from './bench';
import { httpRequest, PAGED, splitOut } from './nodes';
import { inTurn, median, type Row, row } from './rows';
import { leanService } from './service';

const PRODUCTS = 1_500;
const PAGE_SIZE = 100;
const GETS = 500;
const CHARGES = 100;
const ROUNDS = 5;

const ours = (parameters: NodeSketch['parameters']): NodeSketch => ({
	name: 'Ours',
	type: ACTION,
	parameters: { simplify: false, ...parameters },
});

/** Whole products from a platform that is 50 ms away. The peer is HTTP Request with pages, and Split Out. */
export async function list(bench: Bench): Promise<Row[]> {
	const platform = { products: PRODUCTS, maxPageSize: PAGE_SIZE, latencyMs: 50 };
	const all = ours({ resource: 'product', operation: 'getAll', returnAll: true });
	const sandbox = await bench.sandbox(platform);
	const account = await bench.account(sandbox);
	const http = httpRequest(account.bearer, `${sandbox.baseUrl}/products`, PAGED);
	const peer = await bench.side(account, http, splitOut('data'));

	const requests: number[] = [];
	// Each list has an account of its own, because an account may list twenty pages a minute.
	const mine = async (): Promise<number> => {
		const own = await bench.sandbox(platform);
		const side = await bench.side(await bench.account(own), all);
		const ms = await side();
		requests.push(own.requests.length);
		return ms;
	};
	const [ms = NaN, peerMs] = (await inTurn([mine, peer], ROUNDS)).map(median);

	const what = `${PRODUCTS} products, ${PAGE_SIZE} a page`;
	return [
		row(what, [ms, peerMs], 0.5),
		row(what, [Math.max(...requests)], PRODUCTS / PAGE_SIZE, 'requests'),
	];
}

/** One transaction for each item, from a fast platform. HTTP Request sends all it can before the first answer. */
export async function gets(bench: Bench): Promise<Row[]> {
	const service = await leanService(0);
	const account = await bench.account(service);
	const items = splitOut('body.sales');
	const hash = '={{ $json.hash }}';
	const get = ours({ resource: 'transaction', operation: 'get', transactionHash: hash });
	const http = httpRequest(account.bearer, `=${account.baseUrl}/transactions/{{ $json.hash }}`);
	const mine = await bench.side(account, items, get);
	const peer = await bench.side(account, items, http);
	const sales = Array.from({ length: GETS }, (_, nth) => ({ hash: `bench${nth}` }));
	const sides = [mine, peer].map((side) => async () => await side({ sales }));

	const rows: Row[] = [];
	for (const latencyMs of [50, 0]) {
		service.latencyMs = latencyMs;
		const [ms = NaN, peerMs] = (await inTurn(sides, ROUNDS)).map(median);
		rows.push(row(`${GETS} × Get at ${latencyMs} ms`, [ms, peerMs], 0.9));
	}
	return rows;
}

/** A list of different customers at a slow platform. One at a time would take 50 s. */
export async function charges(bench: Bench): Promise<Row[]> {
	const sandbox = await bench.sandbox({ latencyMs: 500 });
	const charge = createPix({
		cart: cartOf(sandbox),
		customerDocument: '={{ $json.document }}',
		webhooksGoTo: 'none',
		qrCodeImage: false,
	});
	const side = await bench.side(await bench.account(sandbox), splitOut('body.customers'), charge);

	let next = 200_000_000;
	const requests: number[] = [];
	const mine = async (): Promise<number> => {
		sandbox.reset();
		const customers = Array.from({ length: CHARGES }, () => ({ document: cpf(next++) }));
		const ms = await side({ customers });
		if (sandbox.charges() !== CHARGES) throw new Error(`Not ${CHARGES} customers charged once.`);
		requests.push(sandbox.requests.length);
		return ms;
	};
	const [ms = NaN] = (await inTurn([mine], ROUNDS)).map(median);

	const what = `${CHARGES} charges at 500 ms`;
	return [row(what, [ms], 15_000), row(what, [Math.max(...requests)], CHARGES, 'requests')];
}
