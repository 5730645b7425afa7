import type { AddressInfo, Server, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { requireOfHost } from '../n8n/host';
import { listen } from '../n8n/processes';

const mailSchema = z.object({
	subject: z.string(),
	/** Empty if the mail has none. */
	html: z.string().or(z.literal(false).transform(() => '')),
	text: z.string().default(''),
	to: z.object({ text: z.string() }),
	attachments: z.array(z.object({ cid: z.string().optional(), contentType: z.string() })),
});

export type Mail = z.infer<typeof mailSchema>;

/** Accepts and keeps every mail. */
export class MailServer {
	readonly mails: Mail[] = [];

	private constructor(private readonly server: Server) {
		server.on('connection', (socket) => {
			socket.on('error', () => socket.destroy());
			this.converse(socket).catch(() => socket.destroy());
		});
	}

	static async open(): Promise<MailServer> {
		return new MailServer(await listen(0));
	}

	get port(): number {
		return (this.server.address() as AddressInfo).port;
	}

	async close(): Promise<void> {
		await new Promise((resolve) => this.server.close(resolve));
	}

	/** Speaks only the part of SMTP (RFC 5321) that sends a mail. */
	private async converse(socket: Socket): Promise<void> {
		const say = (line: string): void => void socket.write(`${line}\r\n`);
		let mail: string[] | undefined;
		socket.setEncoding('latin1');
		say('220 test');
		for await (const line of createInterface({ input: socket })) {
			if (mail === undefined) {
				if (line === 'DATA') mail = [];
				say(mail ? '354 Go on' : '250 OK');
				if (line === 'QUIT') socket.end();
			} else if (line === '.') {
				this.mails.push(await readMail(mail.join('\r\n')));
				mail = undefined;
				say('250 Taken');
			} else {
				mail.push(line.replace(/^\./, ''));
			}
		}
	}
}

async function readMail(raw: string): Promise<Mail> {
	const { simpleParser } = z
		.object({ simpleParser: z.function().args(z.instanceof(Buffer), z.unknown()) })
		.parse(requireOfHost('mailparser'));
	// Otherwise the parser would put the pictures into the text.
	return mailSchema.parse(await simpleParser(Buffer.from(raw, 'latin1'), { skipImageLinks: true }));
}
