import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { ROOT } from '../helpers/n8n/paths';
import { messageOf, say } from '../helpers/n8n/terminal';

/** What a test of `npm test` should use at most, on a machine with two slow cores. */
const BUDGET_MS = 300;

const usage = z.object({ file: z.string(), name: z.string(), ms: z.number() });

/**
 * Runs `npm test`, and lists the tests that use more CPU than the budget. It fails for none of them, because the CPU
 * depends on the machine.
 */
async function main(options: string[]): Promise<void> {
	const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-slow-'));
	const log = path.join(folder, 'cpu.jsonl');
	const jest = path.join(ROOT, 'node_modules/.bin/jest');
	const child = spawn(jest, ['--silent', ...options], {
		cwd: ROOT,
		env: { ...process.env, CPU_LOG: log },
		stdio: 'inherit',
	});
	process.exitCode = await new Promise<number>((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (code) => resolve(code ?? 1));
	});

	const lines = (await readFile(log, 'utf8')).trim().split('\n');
	await rm(folder, { recursive: true });
	const tests = lines.map((line) => usage.parse(JSON.parse(line))).sort((a, b) => b.ms - a.ms);
	const slow = tests.filter(({ ms }) => ms > BUDGET_MS);

	const sum = (some: typeof tests) => some.reduce((total, { ms }) => total + ms, 0);
	const share = (ms: number) => `${((100 * ms) / sum(tests)).toFixed(1)} %`.padStart(7);
	for (const { file, name, ms } of slow) {
		say(
			`${String(Math.round(ms)).padStart(6)} ms ${share(ms)}  ${path.relative(ROOT, file)}: ${name}`,
		);
	}
	const all = `${slow.length} of ${tests.length} tests use more than ${BUDGET_MS} ms of CPU`;
	say(`${all}, together ${share(sum(slow)).trim()} of ${Math.round(sum(tests) / 1_000)} s`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
