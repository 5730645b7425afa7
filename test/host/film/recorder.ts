import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { DATA_FOLDER } from '../n8n/paths';
import { run } from '../n8n/processes';

const FRAMES_A_SECOND = 25;
const JPEG_QUALITY = 90;
const LIST = 'frames.txt';

interface Frame {
	file: string;
	/** In milliseconds of unix time. */
	at: number;
}

/** Records what a browser shows, from beginning to end in one take, on whichever page that is. */
export class Recorder {
	private readonly frames: Frame[] = [];
	private readonly written: Array<Promise<void>> = [];
	private session?: CDPSession;

	private constructor(private readonly folder: string) {}

	static async open(): Promise<Recorder> {
		return new Recorder(await mkdtemp(path.join(tmpdir(), 'digital-sales-film-')));
	}

	/** Shows a page from now on, as somebody does who changes the tab. */
	async show(page: Page): Promise<void> {
		await this.session?.detach();
		await page.bringToFront();
		const session = await page.context().newCDPSession(page);
		this.session = session;
		session.on('Page.screencastFrame', ({ data, sessionId }) => {
			this.add(Buffer.from(data, 'base64'));
			// A page that closes meanwhile needs no answer.
			session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
		});
		await session.send('Page.startScreencast', { format: 'jpeg', quality: JPEG_QUALITY });
	}

	/** Makes the film, and returns for how many seconds it runs. */
	async save(file: string): Promise<number> {
		await this.session?.detach();
		await Promise.all(this.written);
		const [first] = this.frames;
		if (!first) throw new Error('Nothing was recorded.');
		const end = Date.now();
		const lines = this.frames.flatMap(({ file: name, at }, index) => {
			const until = this.frames[index + 1]?.at ?? end;
			return [`file '${name}'`, `duration ${((until - at) / 1_000).toFixed(3)}`];
		});
		await writeFile(path.join(this.folder, LIST), lines.join('\n'));
		await mkdir(path.dirname(file), { recursive: true });
		const input = ['-f', 'concat', '-safe', '0', '-i', LIST];
		const picture = ['-vf', `fps=${FRAMES_A_SECOND},format=yuv420p`, '-c:v', 'libx264'];
		await run('ffmpeg', ['-y', ...input, ...picture, '-movflags', '+faststart', file], {
			cwd: this.folder,
			log: path.join(DATA_FOLDER, 'film-encoding.log'),
		});
		return (end - first.at) / 1_000;
	}

	async close(): Promise<void> {
		await Promise.allSettled(this.written);
		await rm(this.folder, { recursive: true, force: true });
	}

	private add(image: Buffer): void {
		const file = `${this.frames.length}.jpg`;
		this.frames.push({ file, at: Date.now() });
		this.written.push(writeFile(path.join(this.folder, file), image));
	}
}
