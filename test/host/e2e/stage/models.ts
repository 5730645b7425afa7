import fastify from 'fastify';
import { z } from 'zod';
import { LOOPBACK } from '../../n8n/processes';
import type { N8nRest, SavedCredential } from '../../n8n/rest';

const callsSchema = z.array(z.object({ tool: z.string(), args: z.record(z.unknown()) }));
const messageSchema = z.object({ role: z.string(), content: z.unknown() });
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

/** A call of a tool: which one, and what the model fills in. */
export type AskedCall = z.infer<typeof callsSchema>[number];

/** A running model, and what it was told. */
export interface ModelServer {
	url: string;
	/** The tools of the latest chat, each with what the model may fill in. */
	told: Record<string, string[]>;
	close: () => Promise<void>;
}

/** A content, which may come in parts, as one text. */
function textOf(content: unknown): string {
	const parts = [content].flat().map((part) => {
		const read = z.object({ text: z.string() }).safeParse(part);
		return read.success ? read.data.text : String(part);
	});
	return parts.join('');
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
		const calls = tools.length > 0 ? JSON.parse(textOf(messages[last]?.content)) : [];
		const next = callsSchema.parse(calls)[answers.length];
		if (tools.length > 0) {
			model.told = Object.fromEntries(
				tools.map(({ function: { name, parameters } }) => [
					name,
					Object.keys(parameters.properties),
				]),
			);
		}
		const called = next && { name: next.tool, arguments: JSON.stringify(next.args) };
		const message = {
			role: 'assistant',
			content: called ? null : textOf(answers.at(-1)?.content ?? 'Done'),
			...(called && {
				tool_calls: [
					{ index: 0, id: `call_${messages.length}`, type: 'function', function: called },
				],
			}),
		};
		const finish_reason = called ? 'tool_calls' : 'stop';
		const head = { id: 'completion', created: 0, model: MODEL };
		const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
		if (!stream) {
			const choices = [{ index: 0, message, finish_reason }];
			return { ...head, object: 'chat.completion', choices, usage };
		}
		const chunk = (delta: object, more: object): string => {
			const choices = [{ index: 0, delta, ...more }];
			return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, usage })}\n\n`;
		};
		return await reply
			.type('text/event-stream')
			.send(
				`${chunk(message, { finish_reason: null })}${chunk({}, { finish_reason })}data: [DONE]\n\n`,
			);
	});
	model.url = `${await server.listen({ port: 0, host: LOOPBACK })}/v1`;
	return model;
}

const MODEL = 'deepseek-chat';

const eventSchema = z.object({ type: z.string() }).passthrough();
const resultSchema = z.object({ output: z.unknown(), isError: z.boolean().default(false) });
const failureSchema = z.object({ message: z.string() });
const configSchema = z.object({ config: z.record(z.unknown()), configHash: z.string() });
const idSchema = z.object({ id: z.string() });

/** A node that an agent has as a tool. */
export interface NodeTool {
	name: string;
	description: string;
	nodeType: string;
	nodeTypeVersion: number;
	nodeParameters: Record<string, unknown>;
	credentials: Record<string, { id: string; name: string }>;
}

/** One of n8n's own Agents, which live outside of any workflow. */
export class Agent {
	private constructor(
		private readonly rest: N8nRest,
		private readonly path: string,
	) {}

	/** Makes an agent that thinks with the model of this credential and has one tool. */
	static async create(
		rest: N8nRest,
		name: string,
		model: SavedCredential,
		{ name: toolName, description, ...node }: NodeTool,
	): Promise<Agent> {
		const project = await rest.call(idSchema, 'GET', '/projects/personal');
		const agents = `/projects/${project.id}/agents/v2`;
		const { id } = await rest.call(idSchema, 'POST', `${agents}/`, { name });
		const path = `${agents}/${id}`;
		const { config, configHash } = await rest.call(configSchema, 'GET', `${path}/config`);
		await rest.call(z.unknown(), 'PUT', `${path}/config`, {
			config: {
				...config,
				instructions: 'Do what you are asked to.',
				model: `deepseek/${MODEL}`,
				credential: model.id,
				tools: [{ type: 'node', name: toolName, description, node }],
			},
			baseConfigHash: configHash,
		});
		return new Agent(rest, path);
	}

	/** Asks for calls in one message of a chat, and returns what the tool answered to each. */
	async ask(sessionId: string, calls: AskedCall[]): Promise<unknown[]> {
		const message = JSON.stringify(calls);
		const response = await this.rest.send('POST', `${this.path}/chat`, { message, sessionId });
		const events = (await response.text())
			.split('\n')
			.filter((line) => line.startsWith('data: '))
			.map((line) => eventSchema.parse(JSON.parse(line.slice('data: '.length))));
		const failure = events.find(({ type }) => type === 'error');
		if (failure) throw new Error(`The agent failed: ${failureSchema.parse(failure).message}`);
		return events
			.filter(({ type }) => type === 'tool-result')
			.map((event) => resultSchema.parse(event).output);
	}
}
