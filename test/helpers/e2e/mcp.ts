import { z } from 'zod';

const answerSchema = z.object({
	result: z.record(z.unknown()).optional(),
	error: z.object({ message: z.string() }).optional(),
});
const toolsSchema = z.object({
	tools: z.array(
		z.object({ name: z.string(), inputSchema: z.object({ properties: z.record(z.unknown()) }) }),
	),
});
const calledSchema = z.object({ content: z.array(z.object({ text: z.string() })) });

/** A client of n8n's MCP Server Trigger, as the protocol's Streamable HTTP describes it. */
export class McpClient {
	private session: string | undefined;
	private requests = 0;

	private constructor(private readonly url: string) {}

	static async connect(url: string): Promise<McpClient> {
		const client = new McpClient(url);
		const clientInfo = { name: 'test', version: '1.0.0' };
		const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
		await client.request('initialize', about);
		await client.post({ method: 'notifications/initialized' });
		return client;
	}

	async tools() {
		return toolsSchema.parse(await this.request('tools/list', {})).tools;
	}

	/** Returns the text of the tool's answer. */
	async call(name: string, args: Record<string, unknown>): Promise<string> {
		const answer = await this.request('tools/call', { name, arguments: args });
		return calledSchema
			.parse(answer)
			.content.map(({ text }) => text)
			.join('');
	}

	private async request(method: string, params: object) {
		const text = await this.post({ id: (this.requests += 1), method, params });
		// Either JSON, or a stream of events.
		const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
		const { result, error } = answerSchema.parse(JSON.parse(data));
		if (error) throw new Error(error.message);
		return result;
	}

	private async post(message: object): Promise<string> {
		const response = await fetch(this.url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(this.session !== undefined && { 'mcp-session-id': this.session }),
			},
			body: JSON.stringify({ jsonrpc: '2.0', ...message }),
		});
		this.session ??= response.headers.get('mcp-session-id') ?? undefined;
		return await response.text();
	}
}
