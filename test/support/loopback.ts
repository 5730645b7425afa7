import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** The connections that this process has with itself: both ends of each, by the ports of the two. */
const ends = { client: new Set<Socket>(), server: new Map<string, Socket>() };
/** The ports of the connections whose caller is known: Node does not tell of one that begins with TLS. */
const called = new Set<string>();
/** The bytes of all others, as of the last look. */
let movedBefore = 0;

// Each channel hands over an object with the new socket.
const addClient = (message: unknown): void => {
	const { socket } = message as { socket: Socket };
	ends.client.add(socket);
	socket.once('connect', () => called.add(`${socket.localPort} ${socket.remotePort}`));
	socket.once('close', () => ends.client.delete(socket));
};
const addServer = (message: unknown): void => {
	const { socket } = message as { socket: Socket };
	const ports = `${socket.remotePort} ${socket.localPort}`;
	ends.server.set(ports, socket);
	socket.once('close', () => {
		ends.server.delete(ports);
		called.delete(ports);
	});
};

subscribe('net.client.socket', addClient);
subscribe('net.server.socket', addServer);
afterAll(() => {
	unsubscribe('net.client.socket', addClient);
	unsubscribe('net.server.socket', addServer);
});

/**
 * Whether anything is on its way between two ends of a connection: a call that has not been taken, a
 * byte that one end has written and the other has not received, a farewell that only one of them knows.
 */
export function isUnderWay(): boolean {
	for (const client of ends.client) {
		const server = ends.server.get(`${client.localPort} ${client.remotePort}`);
		if (client.connecting || !server) return true;
		if (client.bytesWritten !== server.bytesRead) return true;
		if (server.bytesWritten !== client.bytesRead) return true;
	}
	const strangers = [...ends.server].filter(([ports]) => !called.has(ports));
	const moved = strangers.reduce(
		(sum, [, { bytesRead, bytesWritten }]) => sum + bytesRead + bytesWritten,
		0,
	);
	const moves = moved !== movedBefore;
	movedBefore = moved;
	return moves || ends.client.size !== ends.server.size - strangers.length;
}
