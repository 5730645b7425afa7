import dns from 'node:dns';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { selfSigned } from '../../helpers/selfSigned';
import type { NodeOutcome } from '../../helpers/engine';
import { errorOf, useShop } from '../../helpers/charging';
import { useLimits } from '../../helpers/account';

const CLOSED = 'http://127.0.0.1:9';
const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
const names = PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]);

const open: Array<() => unknown> = [];

/** Opens a server until the end of the test, and returns its port. */
async function listen(server: Server): Promise<number> {
	open.push(() => server.close());
	server.on('connection', (socket: Socket) => open.push(() => socket.destroy()));
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}

/** Acts on a connection once it has received something. */
async function raw(act: (socket: Socket) => void): Promise<number> {
	const server = createServer((socket) => {
		socket.on('error', () => undefined);
		socket.once('data', () => {
			act(socket);
			// A socket that is not read does not notice that the peer has hung up.
			socket.resume();
		});
	});
	return await listen(server);
}

/** A proxy that answers CONNECT. */
async function proxy(act: (socket: Socket) => void): Promise<string> {
	const server = createHttpServer();
	server.on('connect', (_request, socket) => {
		socket.on('error', () => undefined);
		act(socket as Socket);
		socket.resume();
	});
	return `http://127.0.0.1:${await listen(server)}`;
}

const refusing = async (status: number) =>
	await proxy((socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n<html>No</html>`));
const tunnel = async (port: number) =>
	await proxy((socket) => {
		const there = connect(port, '127.0.0.1');
		open.push(() => there.destroy());
		there.on('error', () => socket.destroy());
		socket.write('HTTP/1.1 200 OK\r\n\r\n');
		there.pipe(socket).pipe(there);
	});

describe('A request that never left this machine', () => {
	const limit = useLimits();
	const shop = useShop();
	const own = selfSigned();
	const before = names.map((name) => [name, process.env[name]] as const);
	/** The number of requests that the servers of the test have received. */
	let received = 0;

	beforeEach(() => {
		received = 0;
		for (const name of names) delete process.env[name];
		jest.spyOn(clock, 'sleep').mockImplementation(async () => undefined);
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		for (const [name, value] of before) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
		for (const close of open.splice(0)) close();
	});

	const charge = async (baseUrl: string): Promise<NodeOutcome> => {
		limit({ timeoutMs: 1_000, maxTries: 1 });
		shop.begin();
		return await shop.run(shop.parameters('order-1'), {
			credentials: shop.account.credentialsWith({ baseUrl }),
		});
	};
	const https = async (act: (socket: Socket) => void): Promise<number> => {
		const server = createHttpsServer(own, (request) => {
			received++;
			act(request.socket);
		});
		server.on('tlsClientError', () => undefined);
		return await listen(server);
	};
	const hostWithTwoAddresses = (): string => {
		const lookup = dns.lookup as unknown as (...args: unknown[]) => void;
		const found = ['fe80::1', 'fe80::2'].map((address) => ({ address, family: 6 }));
		const fake = (host: unknown, options: unknown, done: (...args: unknown[]) => void): void => {
			if (host === 'shop.example') setImmediate(done, null, found);
			else lookup(host, options, done);
		};
		jest.spyOn(dns, 'lookup').mockImplementation(fake as typeof dns.lookup);
		return 'http://shop.example/v1';
	};

	const local = (port: number | string): string => `https://127.0.0.1:${port}/v1`;

	test.each<[string, () => Promise<string>]>([
		['a refused connection', async () => `${CLOSED}/v1`],
		['an unknown host', async () => 'http://shop.invalid/v1'],
		['no route to any of two addresses', async () => hostWithTwoAddresses()],
		[
			'https to a platform that speaks http',
			async () => local(new URL(shop.account.sandbox.baseUrl).port),
		],
		['a certificate that is not accepted', async () => local(await https(() => undefined))],
		[
			'a handshake that is reset',
			async () => local(await raw((socket) => socket.resetAndDestroy())),
		],
		['a handshake without an answer', async () => local(await raw(() => undefined))],
	])('%s leaves no doubt, and the error says that it was not sent', async (_name, start) => {
		const baseUrl = await start();
		const failed = [await charge(baseUrl), await charge(baseUrl)];

		for (const one of failed) {
			expect(errorOf(one)).toContain('The platform could not be reached\nThis item was not sent.');
		}
		expect(received).toBe(0);
	});

	test.each<[string, string, () => Promise<string>]>([
		...[403, 407, 500, 502, 503, 504].map((status): [string, string, () => Promise<string>] => [
			`refuses (${status})`,
			'',
			async () => await refusing(status),
		]),
		['is not there', 'ECONNREFUSED', async () => CLOSED],
		['resets', 'ECONNRESET', async () => await proxy((socket) => socket.resetAndDestroy())],
		['says nothing', 'ECONNABORTED', async () => await proxy(() => undefined)],
		['hangs up', '', async () => await proxy((socket) => socket.end())],
		[
			'leads to a host without TLS',
			'EPROTO',
			async () => await tunnel(await listen(createHttpServer())),
		],
		[
			'breaks the tunnel',
			'ECONNRESET',
			async () => await tunnel(await raw((socket) => socket.end())),
		],
	])('with a proxy that %s nothing is sent and no token is blamed', async (_name, code, start) => {
		process.env.HTTPS_PROXY = await start();

		const failed = await charge('https://shop.example/v1');

		expect(errorOf(failed)).toContain('The platform could not be reached\nThis item was not sent.');
		expect(errorOf(failed)).toContain(code);
	});

	describe('once TLS is established, the platform has answered:', () => {
		beforeEach(() => {
			const { connect: secure } = tls;
			jest.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) =>
				secure({
					...options,
					ca: own.cert,
					checkServerIdentity: () => undefined,
				})) as typeof secure);
		});

		const answering = (status: number) => (socket: Socket) =>
			socket.end(`HTTP/1.1 ${status} No\r\n\r\nNo`);
		const DOUBT = /may already have been charged: /;

		test.each<[string, RegExp, (socket: Socket) => void]>([
			['403 is a refusal', /\(403\)/, answering(403)],
			['407 is a refusal', /\(407\)/, answering(407)],
			...[500, 502, 503, 504].map((status): [string, RegExp, (socket: Socket) => void] => [
				`${status} leaves a doubt`,
				DOUBT,
				answering(status),
			]),
			['a reset leaves a doubt', DOUBT, (socket) => socket.destroy()],
			['no answer leaves a doubt', DOUBT, () => undefined],
		])('%s, directly and through a proxy', async (_name, expected, act) => {
			const port = await https(act);
			const direct = await charge(`https://127.0.0.1:${port}/v1`);
			process.env.HTTPS_PROXY = await tunnel(port);
			const proxied = await charge('https://shop.example/v1');

			expect(errorOf(direct)).toMatch(expected);
			expect(errorOf(proxied)).toMatch(expected);
			expect(received).toBe(2);
		});
	});
});
