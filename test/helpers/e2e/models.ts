import fastify from 'fastify';
import { z } from 'zod';
import { LOOPBACK } from '../n8n/processes';

/** Its name. */
export const MODEL = 'deepseek-chat';

/** The calls of tools that it is asked for: which one, and what it fills in. */
const callsSchema = z.array(z.object({ tool: z.string(), args: z.record(z.unknown()) }));
/** A content, which may come in parts, as one text. */
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

/** A running model, and what it was told. */
export interface ModelServer {
	url: string;
	/** The tools of the latest chat, each with what the model may fill in. */
	told: Record<string, string[]>;
	close: () => Promise<void>;
}

/**
 * Serves a chat model with OpenAI's interface. It makes the calls that it is asked for in the chat, as
 * JSON, one at a time, and says in the end what the last tool answered. It keeps nothing, so any number
 * of chats may go on beside each other.
 */
export async function serveModel(): Promise<ModelServer> {
	const server = fastify({ bodyLimit: 10_000_000, forceCloseConnections: true });
	const model: ModelServer = { url: '', told: {}, close: async () => await server.close() };
	server.get('/v1/models', () => ({ object: 'list', data: [{ id: MODEL, object: 'model' }] }));
	server.post('/v1/chat/completions', async ({ body }, reply) => {
		const { messages, tools, stream } = chatSchema.parse(body);
		const last = messages.map(({ role }) => role).lastIndexOf('user');
		const answers = messages.slice(last).filter(({ role }) => role === 'tool');
		// Without tools it is asked for a title of the chat.
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
