import { cpf } from '../../helpers/charge';
import { ACTION, cartOf, createPix, type NodeSketch } from '../../helpers/e2e/workflows';
import type { Bench } from './bench';
import { httpRequest, PAGED, splitOut } from './nodes';
import { inTurn, median, type Row } from './rows';
import { leanService } from './service';

const PRODUCTS = 1_500;
const LISTS = 5;
const PAGE_SIZE = 100;
const GETS = 500;
const CHARGES = 100;

const ours = (parameters: Record<string, unknown>): NodeSketch => ({
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
	const runs = await inTurn([mine, peer], LISTS, async (side) => await side());

	const [ms = NaN, peerMs] = runs.map(median);
	const what = `${PRODUCTS} products, ${PAGE_SIZE} a page`;
	const most = Math.max(...requests);
	return [
		{ what, unit: 'ms', ours: ms, peer: peerMs, atMost: 0.5, of: 'peer' },
		{ what: `requests, ${what}`, unit: 'requests', ours: most, atMost: PRODUCTS / PAGE_SIZE },
	];
}

/** One transaction for each item, from a fast platform. HTTP Request sends all it can before the first answer. */
export async function gets(bench: Bench): Promise<Row[]> {
	const service = await leanService();
	const account = await bench.account(service);
	const hashes = Array.from({ length: GETS }, (_, nth) => `bench${nth}`);
	const items = splitOut('body.hashes', 'hash');
	const transactionHash = '={{ $json.hash }}';
	const get = ours({ resource: 'transaction', operation: 'get', transactionHash });
	const url = `=${account.baseUrl}/transactions/{{ $json.hash }}`;
	const sides = [
		await bench.side(account, items, get),
		await bench.side(account, items, httpRequest(account.bearer, url)),
	];

	const rows: Row[] = [];
	for (const latencyMs of [50, 0]) {
		service.latencyMs = latencyMs;
		const runs = await inTurn(sides, 5, async (side) => await side({ hashes }));
		const [mine = NaN, peer] = runs.map(median);
		const what = `${GETS} × Get at ${latencyMs} ms`;
		rows.push({ what, unit: 'ms', ours: mine, peer, atMost: 0.9, of: 'peer' });
	}
	service.close();
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
	const account = await bench.account(sandbox);
	const side = await bench.side(account, splitOut('body.documents', 'document'), charge);

	let next = 200_000_000;
	const [runs = []] = await inTurn([side], 3, async () => {
		sandbox.reset();
		const ms = await side({ documents: Array.from({ length: CHARGES }, () => cpf(next++)) });
		if (sandbox.charges() !== CHARGES) throw new Error(`Not ${CHARGES} customers charged once.`);
		return { ms, requests: sandbox.requests.length };
	});

	const what = `${CHARGES} charges at 500 ms`;
	const most = Math.max(...runs.map(({ requests }) => requests));
	return [
		{ what, unit: 'ms', ours: median(runs.map(({ ms }) => ms)), atMost: 15_000 },
		{ what: `requests, ${what}`, unit: 'requests', ours: most, atMost: CHARGES },
	];
}
