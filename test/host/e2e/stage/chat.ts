import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { HOST_FOLDER } from '../../n8n/paths';

const HEARTBEAT = 'n8n|heartbeat';
const OF_N8N = 'n8n|';

const startedSchema = z.object({
	executionStarted: z.literal(true),
	executionId: z.string(),
	resumeToken: z.string().default(''),
});

interface Socket {
	on(event: 'message', listener: (data: Buffer) => void): void;
	on(event: 'error', listener: () => void): void;
	send(text: string): void;
}

const socketSchema = z.custom<new (address: string) => Socket>(
	(value) => typeof value === 'function',
);

/** Writes into a hosted chat as its page does; gives the messages that appear in it from then on. */
export async function writeInChat(
	host: string,
	chat: string,
	chatInput: string,
): Promise<string[]> {
	const sessionId = randomUUID();
	const response = await fetch(`${host}${chat}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ action: 'sendMessage', sessionId, chatInput }),
	});
	const { executionId, resumeToken } = startedSchema.parse(await response.json());
	const query = new URLSearchParams({
		sessionId,
		executionId,
		isPublic: 'true',
		token: resumeToken,
	});
	// n8n brings a client along; Node.js has none before 22.
	const WebSocket = socketSchema.parse(createRequire(path.join(HOST_FOLDER, 'package.json'))('ws'));
	const socket = new WebSocket(`${host.replace(/^http/, 'ws')}/chat?${query.toString()}`);
	const messages: string[] = [];
	socket.on('message', (data) => {
		const text = data.toString();
		if (text === HEARTBEAT) socket.send(`${HEARTBEAT}-ack`);
		if (!text.startsWith(OF_N8N)) messages.push(text);
	});
	// n8n ends the connection with the execution.
	socket.on('error', () => {});
	return messages;
}
