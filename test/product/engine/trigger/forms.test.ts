import { EventEmitter } from 'node:events';
import { request } from 'node:http';
import type { INodeParameters } from 'n8n-workflow';
import * as web from '../harness/webServer';
import { useInbox } from '../support/inbox';

/** A file as n8n's form parser returns it: an event emitter with a circular reference and toJSON. */
class FormFile extends EventEmitter {
	readonly size = 5;
	readonly filepath = '/tmp/upload';
	readonly self = this;
	readonly chunks = ['x'.repeat(300_000)];

	toJSON(): unknown {
		return { size: this.size, filepath: this.filepath };
	}
}

const LIMIT = 256 * 1024;
const TYPE = 'multipart/form-data; boundary=x';

/** The harness parses no such form; a test says what n8n has parsed. */
describe('Digital Sales Trigger: a notice that is a form with files', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	let hash: string;
	let form: unknown;

	beforeEach(async () => {
		hash = await inbox.charge();
		jest.spyOn(web, 'parseBody').mockImplementation(async (read) => {
			read.body = form;
		});
	});
	afterEach(() => jest.restoreAllMocks());

	const publish = async (options: INodeParameters) =>
		await inbox.publish({ triggerOn: ['any'], options });
	/** Without a Content-Length, like a sender that streams the form. */
	const sendInChunks = async (): Promise<number | undefined> =>
		await new Promise((resolve, reject) => {
			const headers = { 'content-type': TYPE, connection: 'close' };
			const sent = request(
				inbox.trigger.url,
				{ method: 'POST', headers, agent: false },
				(answer) => {
					answer.resume().on('end', () => resolve(answer.statusCode));
				},
			);
			sent.on('error', reject);
			sent.write('--x');
			sent.end('--');
		});

	test.each<[string, (room: number) => unknown]>([
		['a long text', (room) => ({ x: 'x'.repeat(room) })],
		['a long name', (room) => ({ ['x'.repeat(room)]: 1 })],
		['many values', (room) => ({ x: Array.from({ length: room }, () => 1) })],
		['much in lists', (room) => ({ x: [[{ x: ['x'.repeat(room)] }]] })],
	])('sent in chunks, with %s in it, may be as large as any other', async (_name, hold) => {
		await publish({ verify: false });

		form = { data: { hash, ...Object(hold(LIMIT)) }, files: {} };
		expect(await sendInChunks()).toBe(413);
		form = { data: { hash, ...Object(hold(LIMIT - 1_000)) }, files: {} };
		expect(await sendInChunks()).toBe(200);
	});

	test('sent in chunks, may hold as many characters and values as any other has bytes', async () => {
		await publish({ verify: false });
		const bare = { hash, list: [1, { x: true }] };
		// Three objects, a list and two values.
		const count = ['data', 'hash', hash, 'list', 'x', 'text'].join('').length + 6;
		const holding = (most: number) => ({
			data: { ...bare, text: 'x'.repeat(most - count) },
		});

		form = holding(LIMIT + 1);
		expect(await sendInChunks()).toBe(413);
		form = holding(LIMIT);
		expect(await sendInChunks()).toBe(200);
	});

	test.each([
		['verify off', { verify: false }],
		['Include Notification', { includeNotification: true }],
	])('%s: its files are left out', async (_name, options) => {
		await publish(options);
		const shared = { nested: ['kept once'] };
		const data = { hash, status: 'waiting_payment', shared, again: shared, circle: {} };
		data.circle = data;
		form = { data, files: { one: new FormFile(), more: [new FormFile()] } };

		const { status } = await inbox.trigger.send({
			headers: { 'content-type': TYPE },
			body: '--x--',
		});

		expect(status).toBe(200);
		const notice = 'verify' in options ? inbox.items[0] : inbox.items[0]?.notification;
		expect(notice).toMatchObject({
			data: { hash, status: 'waiting_payment', shared },
			files: { more: [null] },
		});
		expect(JSON.stringify(notice)).not.toMatch(/upload|again|circle|one"/);
	});
});
