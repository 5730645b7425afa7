import fastify from 'fastify';
import { z } from 'zod';
import { LOOPBACK } from '../../n8n/ports';

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
