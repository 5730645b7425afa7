import { z } from 'zod';
import type { N8nRest, SavedCredential } from '../../n8n/rest';
import { inWords, type AskedCall } from './obedientModel';

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
