import { createServer, type AddressInfo } from 'node:net';

export const LOOPBACK = '127.0.0.1';

async function listenOnce(port: number): Promise<number> {
	return await new Promise((resolve, reject) => {
		const server = createServer();
		server.once('error', reject);
		server.listen(port, LOOPBACK, () => {
			const { port: taken } = server.address() as AddressInfo;
			server.close(() => resolve(taken));
		});
	});
}

/**
 * A port that is free on the loopback address right now: the preferred one, or any other where
 * that one is taken or none is preferred.
 */
export async function freePort(preferred?: number): Promise<number> {
	if (preferred === undefined) return await listenOnce(0);
	try {
		return await listenOnce(preferred);
	} catch {
		return await listenOnce(0);
	}
}
