import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { transactionAt } from '../../helpers/charge';
import { LOOPBACK } from '../../helpers/n8n/processes';
import { startSandbox } from '../../sandbox';
import { readShape } from '../../sandbox/shapes';

/** Answers each read with a paid transaction as the sandbox does, and takes far less time for it. */
export async function leanService(latencyMs: number) {
	const sandbox = await startSandbox({ qrImage: 'absent' });
	const sold = await transactionAt(sandbox);
	await sandbox.close();
	const paid = JSON.stringify(readShape({ ...sold, payment_status: 'paid' }));

	const service = { baseUrl: '', apiToken: 'test-bench-token-1234567890', latencyMs };
	const server = createServer(async ({ url = '' }, response) => {
		if (service.latencyMs > 0) await pause(service.latencyMs);
		response.setHeader('content-type', 'application/json');
		response.end(paid.replaceAll(sold.hash, url.split('/').pop() ?? ''));
	});
	// It ends with the process.
	await new Promise<void>((resolve) => server.unref().listen(0, LOOPBACK, resolve));
	service.baseUrl = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/public/v1`;
	return service;
}
