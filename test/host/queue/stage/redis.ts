import { connect } from 'node:net';
import path from 'node:path';
import { freePort, LOOPBACK } from '../../n8n/ports';
import { killGroup } from '../../n8n/processes';
import { findProgram, startServer, tied } from './program';

/** A server of the distributed n8n, on a port of its own. */
export interface Server {
	port: number;
	stop: () => Promise<void>;
	/** Ends it as a crash does, and starts it again with what it has on disk. */
	restart: () => Promise<void>;
}

async function answersPing(port: number): Promise<boolean> {
	return await new Promise((resolve) => {
		const socket = connect({ port, host: LOOPBACK }, () => socket.write('PING\r\n'));
		socket.setTimeout(1_000, () => socket.destroy());
		socket.once('data', (answer: Buffer) => {
			resolve(answer.toString().startsWith('+PONG'));
			socket.destroy();
		});
		socket.once('error', () => resolve(false));
		socket.once('close', () => resolve(false));
	});
}

/** Starts a Redis that keeps on disk what it is told. */
export async function startRedis(folder: string): Promise<Server> {
	const program = await findProgram('redis-server', 'redis-server');
	const port = await freePort();
	const args = ['--port', String(port), '--bind', LOOPBACK, '--save', '', '--appendonly', 'yes'];
	const start = async () =>
		await startServer(await tied(program, args, { endBy: 'KILL' }), {
			cwd: folder,
			log: path.join(folder, 'redis.log'),
			isReady: async () => await answersPing(port),
		});
	let child = await start();
	const stop = async () => await killGroup(child);
	const restart = async () => {
		await stop();
		child = await start();
	};
	return { port, stop, restart };
}
