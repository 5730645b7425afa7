import fastify from 'fastify';
import { z } from 'zod';
import { LOOPBACK } from '../../n8n/processes';
import type { N8nRest, SavedCredential } from '../../n8n/rest';

const requestSchema = z.object({
	messages: z.array(z.object({ role: z.string(), content: z.unknown() }).passthrough()),
	tools: z
		.array(
			z.object({
				function: z.object({
					name: z.string(),
					description: z.string(),
					parameters: z.object({ properties: z.record(z.object({ description: z.string() })) }),
				}),
			}),
		)
		.default([]),
});

/** What the model is told of one tool. */
export type ToldTool = z.infer<typeof requestSchema>['tools'][number]['function'];

/** A call that the model makes: the tool, and what it fills in, given the answers so far. */
export interface ScriptedCall {
	tool: string;
	args: (answers: string[]) => Record<string, unknown>;
}

/** A model that follows a script, and what it was told meanwhile. */
export interface ModelServer {
	url: string;
	/** The tools as the agent described them in its first request. */
	tools: ToldTool[];
	/** What the tools answered, in the order of the script. */
	answers: string[];
	close: () => Promise<void>;
}

/**
 * Serves a chat model with OpenAI's interface that makes the calls of a script, one at a time, and ends
 * with what it makes of the answers.
 */
export async function serveModel(
	script: ScriptedCall[],
	ending: (answers: string[]) => string = () => 'Done',
): Promise<ModelServer> {
	const server = fastify({ bodyLimit: 10_000_000 });
	const model: ModelServer = {
		url: '',
		tools: [],
		answers: [],
		close: async () => await server.close(),
	};
	server.post('/v1/chat/completions', async ({ body }) => {
		const { messages, tools } = requestSchema.parse(body);
		if (model.tools.length === 0) model.tools = tools.map((tool) => tool.function);
		model.answers = messages
			.filter(({ role }) => role === 'tool')
			.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
		const next = script[model.answers.length];
		const message =
			next === undefined
				? { role: 'assistant', content: ending(model.answers) }
				: {
						role: 'assistant',
						content: null,
						tool_calls: [
							{
								id: `call_${model.answers.length}`,
								type: 'function',
								function: {
									name: next.tool,
									arguments: JSON.stringify(next.args(model.answers)),
								},
							},
						],
					};
		return {
			id: 'completion',
			object: 'chat.completion',
			created: 0,
			model: 'scripted',
			choices: [{ index: 0, message, finish_reason: next === undefined ? 'stop' : 'tool_calls' }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		};
	});
	model.url = `${await server.listen({ port: 0, host: LOOPBACK })}/v1`;
	return model;
}

const callsSchema = z.array(z.object({ tool: z.string(), args: z.record(z.unknown()) }));
const messageSchema = z.object({ role: z.string(), content: z.unknown() });
const chatSchema = z.object({ messages: z.array(messageSchema), tools: z.unknown() });

/** A call of a tool: which one, and what the model fills in. */
export type AskedCall = z.infer<typeof callsSchema>[number];

/** What a person writes in a chat to have these calls made. */
function inWords(calls: AskedCall[]): string {
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
		const { messages, tools } = chatSchema.parse(body);
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

const eventSchema = z.object({ type: z.string() }).passthrough();
const resultSchema = z.object({ output: z.unknown(), isError: z.boolean().default(false) });
const failureSchema = z.object({ message: z.string() });
const configSchema = z.object({ config: z.record(z.unknown()), configHash: z.string() });
const idSchema = z.object({ id: z.string() });

/** What a tool gave the agent: its output, or the text of its error. */
export type ToolResult = z.infer<typeof resultSchema>;

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
				model: 'deepseek/deepseek-chat',
				credential: model.id,
				tools: [{ type: 'node', name: toolName, description, node }],
			},
			baseConfigHash: configHash,
		});
		return new Agent(rest, path);
	}

	/** Asks for calls in one message of a chat, and returns the tool's answer to each. */
	async ask(chat: string, calls: AskedCall[]): Promise<ToolResult[]> {
		const message = inWords(calls);
		const response = await this.rest.send('POST', `${this.path}/chat`, {
			message,
			sessionId: chat,
		});
		const events = (await response.text())
			.split('\n')
			.filter((line) => line.startsWith('data: '))
			.map((line) => eventSchema.parse(JSON.parse(line.slice('data: '.length))));
		const failure = events.find(({ type }) => type === 'error');
		if (failure) throw new Error(`The agent failed: ${failureSchema.parse(failure).message}`);
		return events
			.filter(({ type }) => type === 'tool-result')
			.map((event) => resultSchema.parse(event));
	}
}
