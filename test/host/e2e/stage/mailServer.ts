import { createRequire } from 'node:module';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { HOST_FOLDER } from '../../n8n/paths';
import { LOOPBACK } from '../../n8n/processes';

const END = '\r\n.\r\n';

const mailSchema = z.object({
	subject: z.string(),
	/** Empty in a mail without it. */
	html: z.string().or(z.literal(false).transform(() => '')),
	text: z.string().default(''),
	from: z.object({ text: z.string() }),
	to: z.object({ text: z.string() }),
	attachments: z.array(
		z.object({
			cid: z.string().optional(),
			contentType: z.string(),
			content: z.instanceof(Buffer),
		}),
	),
});

/** A mail as its reader sees it. */
export type Mail = z.infer<typeof mailSchema>;

/** A mail server that takes everything and keeps it. */
export class MailServer {
	readonly mails: Mail[] = [];

	private constructor(
		private readonly server: Server,
		readonly port: number,
	) {}

	/** Listens on the loopback address. */
	static async open(): Promise<MailServer> {
		const server = createServer((socket) => converse(socket, async (raw) => await take(raw)));
		await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
		const address = server.address();
		const mailServer = new MailServer(
			server,
			typeof address === 'object' && address !== null ? address.port : 0,
		);
		const take = async (raw: string): Promise<void> => {
			mailServer.mails.push(await readMail(raw));
		};
		return mailServer;
	}

	async close(): Promise<void> {
		await new Promise((resolve) => this.server.close(resolve));
	}
}

/** Speaks as much SMTP (RFC 5321) as a client needs that sends a mail. */
function converse(socket: Socket, take: (raw: string) => Promise<void>): void {
	let received = '';
	let isMail = false;
	const say = (line: string): void => void socket.write(`${line}\r\n`);
	const answer = (line: string): void => {
		const verb = line.slice(0, 4).toUpperCase();
		if (verb === 'DATA') {
			isMail = true;
			say('354 Go on');
		} else if (verb === 'QUIT') {
			say('221 Bye');
			socket.end();
		} else {
			say('250 OK');
		}
	};
	socket.setEncoding('latin1');
	socket.on('error', () => socket.destroy());
	socket.on('data', (chunk: string) => {
		received += chunk;
		for (;;) {
			const end = isMail ? END : '\r\n';
			const at = received.indexOf(end);
			if (at === -1) return;
			const part = received.slice(0, at);
			received = received.slice(at + end.length);
			if (isMail) {
				isMail = false;
				take(part.replace(/^\.\./gm, '.')).then(
					() => say('250 Taken'),
					() => say('554 Unreadable'),
				);
			} else {
				answer(part);
			}
		}
	});
	say('220 test');
}

/** n8n brings a reader of mails along. */
async function readMail(raw: string): Promise<Mail> {
	const load = createRequire(path.join(HOST_FOLDER, 'package.json'));
	const { simpleParser } = z
		.object({ simpleParser: z.function().args(z.instanceof(Buffer), z.unknown()) })
		.parse(load('mailparser'));
	// Otherwise it puts the pictures into the text.
	return mailSchema.parse(await simpleParser(Buffer.from(raw, 'latin1'), { skipImageLinks: true }));
}
