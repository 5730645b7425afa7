import { cpf } from '../../helpers/charge';
import { ACTION, cartOf, createPix, type NodeSketch } from '../../helpers/e2e/workflows';
import { type Bench, checkSame } from './bench';
import { BY_NEXT_URL, BY_NUMBER, httpRequest, splitOut } from './nodes';
import { inTurn, median, type Row } from './rows';
import { leanService } from './service';

const ours = (parameters: Record<string, unknown>): NodeSketch => ({
	name: 'Ours',
	type: ACTION,
	parameters: { simplify: false, ...parameters },
});

/** Whole products from a platform that is 50 ms away, as HTTP Request and Split Out return them. */
export async function list(bench: Bench): Promise<Row[]> {
	return [
		...(await listOf(bench, 300, 30, BY_NEXT_URL)),
		...(await listOf(bench, 3_000, 100, BY_NUMBER)),
	];
}

async function listOf(bench: Bench, products: number, maxPageSize: number, way: object) {
	const sandbox = await bench.sandbox({ products, maxPageSize, latencyMs: 50 });
	const account = await bench.account(sandbox);
	const options = { requestLimit: 1_000_000 };
	const all = ours({ resource: 'product', operation: 'getAll', returnAll: true, options });
	const http = httpRequest(account.bearer, `${sandbox.baseUrl}/products`, { ...way });
	const sides = [
		await bench.side(account, [all]),
		await bench.side(account, [http, splitOut('data')]),
	];
	await checkSame(sides, products);

	const runs = await inTurn(sides, 5, async (side) => {
		const before = sandbox.requests.length;
		const ms = await side.run();
		return { ms, requests: sandbox.requests.length - before };
	});

	const [mine = [], peers = []] = runs;
	const msOf = (side: typeof mine) => median(side.map(({ ms }) => ms));
	const requests = Math.max(...mine.map((run) => run.requests));
	const what = `${products} products, up to ${maxPageSize} a page`;
	const time: Row = {
		what,
		unit: 'ms',
		ours: msOf(mine),
		peer: msOf(peers),
		goal: { of: 'peer', atMost: 0.35 },
	};
	const count: Row = {
		what: `requests for ${what}`,
		unit: 'requests',
		ours: requests,
		goal: { atMost: products / maxPageSize },
	};
	return [time, count];
}

/** One transaction for each item, from a fast platform. HTTP Request sends all it can before the first answer. */
export async function gets(bench: Bench): Promise<Row[]> {
	const service = await leanService();
	const account = await bench.account(service);
	const hashes = Array.from({ length: 1_000 }, (_, nth) => `bench${nth}`);
	const items = splitOut('body.hashes', 'hash');
	const get = ours({
		resource: 'transaction',
		operation: 'get',
		transactionHash: '={{ $json.hash }}',
	});
	const url = `=${account.baseUrl}/transactions/{{ $json.hash }}`;
	const sides = [
		await bench.side(account, [items, get]),
		await bench.side(account, [items, httpRequest(account.bearer, url)]),
	];
	await checkSame(sides, hashes.length, { hashes });

	const rows: Row[] = [];
	for (const [latencyMs, atMost] of [
		[50, 0.9],
		[0, 0.9],
	] as const) {
		service.latencyMs = latencyMs;
		const runs = await inTurn(sides, 7, async (side) => await side.run({ hashes }));
		const [mine = NaN, peer = NaN] = runs.map(median);
		const what = `${hashes.length} × Get at ${latencyMs} ms`;
		rows.push({ what, unit: 'ms', ours: mine, peer, goal: { of: 'peer', atMost } });
	}
	service.close();
	return rows;
}

/** A list of different customers at a slow platform. One at a time would take 50 s. */
export async function charges(bench: Bench): Promise<Row[]> {
	const count = 100;
	const sandbox = await bench.sandbox({ latencyMs: 500 });
	const side = await bench.side(await bench.account(sandbox), [
		splitOut('body.documents', 'document'),
		createPix({
			cart: cartOf(sandbox),
			customerDocument: '={{ $json.document }}',
			webhooksGoTo: 'none',
			qrCodeImage: false,
		}),
	]);

	let next = 200_000_000;
	const [runs = []] = await inTurn([side], 3, async () => {
		sandbox.reset();
		const documents = Array.from({ length: count }, () => cpf(next++));
		const ms = await side.run({ documents });
		if (sandbox.charges() !== count) throw new Error(`Not ${count} customers charged once.`);
		return { ms, requests: sandbox.requests.length };
	});

	const what = `${count} charges at 500 ms`;
	const requests = Math.max(...runs.map((run) => run.requests));
	return [
		{ what, unit: 'ms', ours: median(runs.map(({ ms }) => ms)), goal: { atMost: 15_000 } },
		{ what: `requests for ${what}`, unit: 'requests', ours: requests, goal: { atMost: count } },
	];
}
