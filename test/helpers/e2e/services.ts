import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { postJson } from '../http';
import { requireOfHost } from '../n8n/host';
import { LOOPBACK } from '../n8n/processes';
import { MailServer } from './mailServer';

const RECORDER = '/recorder';

/** Accepts arrays as well. */
const objectSchema = z.custom<Record<string, unknown>>(
	(value) => typeof value === 'object' && value !== null,
);
const callSchema = z.object({ parameters: objectSchema, files: z.array(z.string()) });
const recordedSchema = z.object({
	/** Without the package name, for example whatsApp. */
	type: z.string(),
	name: z.string(),
	expressions: objectSchema,
	calls: z.array(callSchema),
});

/** The output of replaced nodes, apart from spreadsheets. */
const ANSWERS: Record<string, IDataObject> = {
	whatsApp: {
		messaging_product: 'whatsapp',
		contacts: [{ wa_id: '5511' }],
		messages: [{ id: 'w' }],
	},
	telegram: { ok: true, result: { message_id: 1, chat: { id: -100 } } },
	hubspot: { vid: 101, isNew: true },
};
/** Node types whose service cannot be moved to another address. */
export const REPLACED = ['googleSheets', ...Object.keys(ANSWERS)];

/** The evaluated parameters for one item, and the names of its files. */
type Call = z.infer<typeof callSchema> & Pick<z.infer<typeof recordedSchema>, 'type' | 'name'>;

/** A request of an HTTP Request node. The URL has the original host. */
type WebCall = Pick<FastifyRequest, 'method' | 'url' | 'headers' | 'body'>;

export type Row = Record<string, unknown>;

export class Services {
	readonly calls: Call[] = [];
	readonly webCalls: WebCall[] = [];
	/** By the name of the sheet. */
	readonly sheets = new Map<string, Row[]>();
	/** Names or types of replaced nodes that fail. */
	readonly down = new Set<string>();

	private constructor(
		private readonly server: FastifyInstance,
		readonly mail: MailServer,
	) {}

	static async open(): Promise<Services> {
		const server = fastify({ bodyLimit: 10_000_000, forceCloseConnections: true });
		server.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, readForm);
		const services = new Services(server, await MailServer.open());
		server.all('*', (request) => services.answer(request));
		await server.listen({ port: 0, host: LOOPBACK });
		return services;
	}

	get recorder(): string {
		return `${this.server.listeningOrigin}${RECORDER}`;
	}

	/** The local address that replaces a host on the internet. */
	inPlaceOf(host: string): string {
		return `${this.server.listeningOrigin}/${host}`;
	}

	/** Oldest first. */
	callsOf(type: string): Array<Call['parameters']> {
		return this.calls.filter((call) => call.type === type).map(({ parameters }) => parameters);
	}

	rows(tab: string): Row[] {
		return this.sheets.get(tab) ?? [];
	}

	clear(): void {
		this.calls.length = 0;
		this.webCalls.length = 0;
		this.mail.mails.length = 0;
		this.sheets.clear();
		this.down.clear();
	}

	async close(): Promise<void> {
		await this.server.close();
		await this.mail.close();
	}

	private answer({ url, method, headers, body }: FastifyRequest): unknown {
		if (url !== RECORDER) {
			this.webCalls.push({ method, url: `https:/${url}`, headers, body });
			return { ok: true };
		}
		const { type, name, expressions, calls } = recordedSchema.parse(body);
		if (this.down.has(name) || this.down.has(type)) throw new Error(`"${name}" is out of reach`);
		return calls.map(({ parameters, files }) => {
			const empty = unfilled(expressions, parameters);
			if (empty.length > 0) throw new Error(`"${name}" has empty values: ${empty.join('; ')}`);
			this.calls.push({ type, name, parameters, files });
			// The output of the real node replaces the input item.
			return type === 'googleSheets' ? this.sheet(sheetSchema.parse(parameters)) : [ANSWERS[type]];
		});
	}

	private sheet(parameters: z.infer<typeof sheetSchema>): IDataObject[] {
		const { operation, sheetName, columns, options } = parameters;
		const tab = sheetName.value;
		const rows = this.rows(tab);
		this.sheets.set(tab, rows);
		if (operation === 'read') return rows.map((row, index) => ({ row_number: index + 2, ...row }));
		writeOptionsSchema.parse(options);
		const { value, matchingColumns } = columnsSchema.parse(columns);
		const [key = ''] = matchingColumns;
		const found = rows.find((row, index) =>
			key === 'row_number' ? index + 2 === value[key] : row[key] === value[key],
		);
		const { row_number: _number, ...cells } = value;
		if (found) Object.assign(found, cells);
		else if (operation === 'appendOrUpdate') rows.push(cells);
		else throw new Error(`No row whose ${key} is ${String(value[key])}`);
		return [value];
	}
}

/** A file is read as its type. */
async function readForm({ headers }: FastifyRequest, bytes: string | Buffer): Promise<object> {
	const type = headers['content-type'] ?? '';
	const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
	return Object.fromEntries(
		[...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.type]),
	);
}

const NOTHING = /\b(undefined|null|NaN)\b|\[object Object\]|Invalid/;

/** Lists expressions that returned nothing, or text that no person should read. */
function unfilled(expression: unknown, value: unknown): string[] {
	if (typeof expression === 'string') {
		const isFilled = value !== undefined && value !== null && value !== '';
		const isRead = isFilled && !NOTHING.test(String(value));
		return !expression.startsWith('=') || isRead ? [] : [`${expression} as ${String(value)}`];
	}
	const inside = objectSchema.safeParse(value).data ?? {};
	return typeof expression === 'object' && expression !== null
		? Object.entries(expression).flatMap(([key, part]) => unfilled(part, inside[key]))
		: [];
}

const sheetSchema = z.object({
	operation: z.enum(['read', 'appendOrUpdate', 'update']),
	sheetName: z.object({ value: z.string() }),
	columns: z.unknown(),
	options: z.unknown(),
});
/** Any other format would turn a name into a formula, and a hash into a number. */
const writeOptionsSchema = z.object({ cellFormat: z.literal('RAW') });
const columnsSchema = z.object({
	value: z.custom<IDataObject>((value) => typeof value === 'object' && value !== null),
	matchingColumns: z.array(z.string()),
});

const HEARTBEAT = 'n8n|heartbeat';
const OF_N8N = 'n8n|';

const startedSchema = z.object({
	executionStarted: z.literal(true),
	executionId: z.string(),
	resumeToken: z.string().default(''),
});
const socketSchema = z.custom<new (address: string) => EventEmitter & { send(text: string): void }>(
	(value) => typeof value === 'function',
);

/** Returns the messages that appear in the chat from now on. */
export async function writeInChat(
	host: string,
	chat: string,
	chatInput: string,
): Promise<string[]> {
	const sessionId = randomUUID();
	const said = { action: 'sendMessage', sessionId, chatInput };
	const { json } = await postJson(`${host}${chat}`, said);
	const { executionId, resumeToken: token } = startedSchema.parse(json);
	const query = new URLSearchParams({ sessionId, executionId, isPublic: 'true', token });
	// Node.js has no WebSocket client before version 22.
	const WebSocket = socketSchema.parse(requireOfHost('ws'));
	const socket = new WebSocket(`${host.replace(/^http/, 'ws')}/chat?${query.toString()}`);
	const messages: string[] = [];
	socket.on('message', (data: Buffer) => {
		const text = data.toString();
		if (text === HEARTBEAT) socket.send(`${HEARTBEAT}-ack`);
		if (!text.startsWith(OF_N8N)) messages.push(text);
	});
	// n8n closes the connection when the execution ends.
	socket.on('error', () => {});
	return messages;
}
