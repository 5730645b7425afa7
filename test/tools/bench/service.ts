import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { transactionAt } from '../../helpers/charge';
import { LOOPBACK } from '../../helpers/n8n/processes';
import { startSandbox } from '../../sandbox';
import { readShape } from '../../sandbox/shapes';

export interface LeanService {
	baseUrl: string;
	apiToken: string;
	/** Milliseconds before each answer. */
	latencyMs: number;
	close: () => void;
}

/** Answers each read with a paid transaction as the sandbox does, and takes far less time for it. */
export async function leanService(): Promise<LeanService> {
	const sandbox = await startSandbox({ qrImage: 'absent' });
	const sold = await transactionAt(sandbox);
	await sandbox.close();
	const paid = JSON.stringify(readShape({ ...sold, payment_status: 'paid' }));

	const server = createServer((request, response) => {
		const hash = request.url?.split('/').pop() ?? '';
		const answer = () => {
			response.setHeader('content-type', 'application/json');
			response.end(paid.replaceAll(sold.hash, hash));
		};
		if (service.latencyMs === 0) answer();
		else void pause(service.latencyMs).then(answer);
	});
	await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
	const service: LeanService = {
		baseUrl: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/public/v1`,
		apiToken: 'test-bench-token-1234567890',
		latencyMs: 0,
		close: () => {
			server.closeAllConnections();
			server.close();
		},
	};
	return service;
}
