import fastify from 'fastify';
import { z } from 'zod';
import { LOOPBACK } from '../../n8n/ports';

const callsSchema = z.array(z.object({ tool: z.string(), args: z.record(z.unknown()) }));
const messageSchema = z.object({ role: z.string(), content: z.unknown() });
const requestSchema = z.object({ messages: z.array(messageSchema), tools: z.unknown() });

/** A call of a tool: which one, and what the model fills in. */
export type AskedCall = z.infer<typeof callsSchema>[number];

/** What a person writes in a chat to have these calls made. */
export function inWords(calls: AskedCall[]): string {
	return JSON.stringify(calls);
}

/** The next call that the last message of the person asks for, by the answers since. */
function nextCall(messages: Array<z.infer<typeof messageSchema>>): AskedCall | undefined {
	const last = messages.map(({ role }) => role).lastIndexOf('user');
	const text = [messages[last]?.content].flat().map((part) => {
		const read = z.object({ text: z.string() }).safeParse(part);
		return read.success ? read.data.text : part;
	});
	const answered = messages.slice(last).filter(({ role }) => role === 'tool').length;
	return callsSchema.parse(JSON.parse(text.join('')))[answered];
}

function deltaOf(next: AskedCall | undefined, id: string): object {
	if (next === undefined) return { role: 'assistant', content: 'Done' };
	const called = { name: next.tool, arguments: JSON.stringify(next.args) };
	return {
		role: 'assistant',
		content: null,
		tool_calls: [{ index: 0, id, type: 'function', function: called }],
	};
}

/** A running model, and what one has to know to reach it. */
export interface ObedientModel {
	url: string;
	close: () => Promise<void>;
}

/**
 * Serves a streaming chat model with OpenAI's interface that makes the calls it is asked for in the
 * chat, one at a time. It keeps nothing, so any number of chats may go on beside each other.
 */
export async function serveObedientModel(): Promise<ObedientModel> {
	const server = fastify({ bodyLimit: 10_000_000, forceCloseConnections: true });
	server.get('/models', () => ({
		object: 'list',
		data: [{ id: 'deepseek-chat', object: 'model' }],
	}));
	server.post('/chat/completions', async ({ body }, reply) => {
		const { messages, tools } = requestSchema.parse(body);
		// Without tools it is asked for a title of the chat.
		const next = tools === undefined ? undefined : nextCall(messages);
		const chunk = (delta: object, finish: string | null, more: object = {}): string => {
			const choices = [{ index: 0, delta, finish_reason: finish }];
			const head = { id: 'completion', object: 'chat.completion.chunk', created: 0 };
			return `data: ${JSON.stringify({ ...head, model: 'deepseek-chat', choices, ...more })}\n\n`;
		};
		const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
		return await reply
			.type('text/event-stream')
			.send(
				[
					chunk(deltaOf(next, `call_${messages.length}`), null),
					chunk({}, next === undefined ? 'stop' : 'tool_calls', { usage }),
					'data: [DONE]\n\n',
				].join(''),
			);
	});
	return {
		url: await server.listen({ port: 0, host: LOOPBACK }),
		close: async () => await server.close(),
	};
}
