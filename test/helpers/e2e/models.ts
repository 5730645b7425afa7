import fastify from 'fastify';
import { z } from 'zod';
import { LOOPBACK } from '../n8n/processes';

export const MODEL = 'deepseek-chat';

/** A chat asks for these tool calls. */
const callsSchema = z.array(z.object({ tool: z.string(), args: z.record(z.unknown()) }));
/** Content may arrive in parts. */
const textSchema = z
	.string()
	.or(
		z
			.array(z.object({ text: z.string() }))
			.transform((parts) => parts.map(({ text }) => text).join('')),
	);
const messageSchema = z.object({ role: z.string(), content: textSchema.nullish() });
const toolSchema = z.object({
	function: z.object({
		name: z.string(),
		parameters: z.object({ properties: z.record(z.unknown()) }),
	}),
});
const chatSchema = z.object({
	messages: z.array(messageSchema),
	tools: z.array(toolSchema).default([]),
	stream: z.boolean().default(false),
});

export interface ModelServer {
	url: string;
	/** The tools of the latest chat, and the parameters of each that the model may fill in. */
	told: Record<string, string[]>;
	close: () => Promise<void>;
}

/**
 * Serves a chat model with OpenAI's interface. A chat asks for tool calls as JSON. The model makes them one at a
 * time, and then repeats the answer of the last tool. It keeps no state, so chats may run concurrently.
 */
export async function serveModel(): Promise<ModelServer> {
	const server = fastify({ bodyLimit: 10_000_000, forceCloseConnections: true });
	const model: ModelServer = { url: '', told: {}, close: async () => await server.close() };
	server.get('/v1/models', () => ({ object: 'list', data: [{ id: MODEL, object: 'model' }] }));
	server.post('/v1/chat/completions', async ({ body }, reply) => {
		const { messages, tools, stream } = chatSchema.parse(body);
		const last = messages.map(({ role }) => role).lastIndexOf('user');
		const answers = messages.slice(last).filter(({ role }) => role === 'tool');
		// n8n also asks for a title of the chat, without tools.
		const asked = tools.length === 0 ? '[]' : (messages[last]?.content ?? '');
		const next = callsSchema.parse(JSON.parse(asked))[answers.length];
		if (tools.length > 0) {
			const fields = tools.map(({ function: { name, parameters } }): [string, string[]] => [
				name,
				Object.keys(parameters.properties),
			]);
			model.told = Object.fromEntries(fields);
		}
		const called = next && { name: next.tool, arguments: JSON.stringify(next.args) };
		const call = { index: 0, id: `call_${messages.length}`, type: 'function', function: called };
		const message = {
			role: 'assistant',
			content: called ? null : (answers.at(-1)?.content ?? 'Done'),
			...(called && { tool_calls: [call] }),
		};
		const finish_reason = called ? 'tool_calls' : 'stop';
		const answer = (object: string, choice: object): object => ({
			...{ id: 'completion', created: 0, model: MODEL, object },
			choices: [{ index: 0, ...choice }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
		if (!stream) return answer('chat.completion', { message, finish_reason });
		const parts = [
			{ delta: message, finish_reason: null },
			{ delta: {}, finish_reason },
		].map((choice) => JSON.stringify(answer('chat.completion.chunk', choice)));
		const lines = [...parts, '[DONE]'].map((part) => `data: ${part}\n\n`);
		return await reply.type('text/event-stream').send(lines.join(''));
	});
	model.url = `${await server.listen({ port: 0, host: LOOPBACK })}/v1`;
	return model;
}
