import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { withoutWaiting } from '../../../support/clocks';
import { runNode } from '../harness';
import { useAccount } from '../support/account';

const LIST = { resource: 'product', operation: 'getAll', simplify: false };

/** How a proxy in front of the service may hand an answer over. */
describe('The body of an answer', () => {
	const account = useAccount();

	test('comes piece by piece without an end: it is left when the time is up', async () => {
		account.fault('list', { kind: 'slowBody', ms: 400_000 });

		const { json } = await account.run(LIST);

		expect(json).not.toEqual([]);
		expect(account.sandbox.requests).toHaveLength(2);
	});

	test('is beyond all bounds: it is left, and the error says so', async () => {
		account.fault('list', { kind: 'endlessBody' });

		const { message, description } = await account.fail(LIST);

		expect(message).toMatch(/too large/);
		expect(description).toMatch(/Page Size/);
		expect(account.sandbox.requests).toHaveLength(1);
	});
});

test('A compressed body that breaks off is asked for again', async () => {
	const data = [{ hash: 'abc123', title: 'Curso de Pão de Queijo — do zero' }];
	const whole = gzipSync(JSON.stringify({ data, links: { next: null } }));
	let requests = 0;
	const server = createServer((_request, response) => {
		response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
		if (++requests > 1) response.end(whole);
		else response.write(whole.subarray(0, 20), () => response.socket?.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
	const restoreTime = withoutWaiting(clock);

	const { json } = await runNode(LIST, {
		credentials: { digitalSalesApi: { baseUrl, apiToken: 'test-token-of-a-body' } },
	});

	restoreTime();
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
	expect(json).toEqual(data);
	expect(requests).toBe(2);
});
