import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { everythingIn, NodeProcess, runCredentialTest, runNode } from './harness';
test('real', async () => {
	const server = createServer((q, s) => { s.setHeader('content-type','application/json'); s.end(JSON.stringify({ data: [{ hash: 'p1', title: 'T', amount: 100 }], meta: { current_page: 1, last_page: 1, per_page: 15, total: 1 }, got: q.url })); });
	await new Promise<void>((r) => server.listen(0, '127.0.0.1', r));
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
	const credentials = { digitalSalesApi: { baseUrl, apiToken: 'tok-secret' } };
	const t = Date.now();
	const run = await runNode({ resource: 'product', operation: 'getAll', returnAll: true }, { credentials });
	console.log(run.status, run.json, run.error?.message, Date.now() - t, everythingIn(run).includes('tok-secret'));
	const t2 = Date.now(); const p = NodeProcess.fresh(); console.log('fresh', Date.now() - t2);
	console.log((await runNode({ resource: 'product', operation: 'getAll', returnAll: true }, { credentials, process: p })).status);
	console.log(await runCredentialTest(credentials.digitalSalesApi).catch((e: Error) => e.message));
	server.close(); server.closeAllConnections();
});
