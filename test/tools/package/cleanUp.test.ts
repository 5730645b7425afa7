import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { CleanUp } from '../../host/n8n/cleanUp';
import { ROOT } from '../../host/n8n/paths';

test('what was added last is cleaned up first, once, also if it fails', async () => {
	const order: string[] = [];
	const cleanUp = new CleanUp();
	const folder = await cleanUp.folder('clean-up');
	cleanUp.add(async () => {
		order.push(`folder: ${existsSync(folder)}`);
		await Promise.resolve();
	});
	cleanUp.add(async () => await Promise.reject(new Error('It does not close.')));
	await expect(cleanUp.run()).rejects.toThrow('It does not close.');
	await expect(cleanUp.run()).rejects.toThrow('It does not close.');
	expect(order).toEqual(['folder: true']);
	expect(existsSync(folder)).toBe(false);
});

test.each([
	['SIGINT', 130],
	['SIGTERM', 143],
] as const)('a process that is ended by %s leaves no folder', async (signal, code) => {
	const module = JSON.stringify(path.join(ROOT, 'test/host/n8n/cleanUp.ts'));
	const program = `
		const { CleanUp } = require(${module});
		new CleanUp().folder('clean-up').then(console.log);
		setInterval(() => {}, 1_000);`;
	const child = spawn(process.execPath, ['--require', 'tsx/cjs', '--eval', program], {
		cwd: ROOT,
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const [printed] = await once(child.stdout, 'data');
	const folder = String(printed).trim();
	expect(existsSync(folder)).toBe(true);
	child.kill(signal);
	expect(await once(child, 'exit')).toEqual([code, null]);
	expect(existsSync(folder)).toBe(false);
});
