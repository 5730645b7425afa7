import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../../host/n8n/processes';

let folder: string;
beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-processes-'))));
afterEach(async () => await rm(folder, { recursive: true }));

describe('A command that is run', () => {
	// Commands are also run in a tree where nothing has run before.
	test('writes into a log whose folder is not there yet', async () => {
		const log = path.join(folder, 'logs', 'a.log');
		await run(process.execPath, ['-e', 'console.log("one")'], { cwd: folder, log });
		await run(process.execPath, ['-e', 'console.error("two")'], { cwd: folder, log });
		expect(await readFile(log, 'utf8')).toBe('one\ntwo\n');
	});

	test('fails with the end of what it wrote', async () => {
		const log = path.join(folder, 'a.log');
		const failing = run(process.execPath, ['-e', 'console.log("why"); process.exit(3)'], {
			cwd: folder,
			log,
		});
		await expect(failing).rejects.toThrow(/failed with code 3\.\nwhy\n/);
	});
});
