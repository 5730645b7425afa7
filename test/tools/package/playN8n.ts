import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../../host/n8n/paths';
import type { HostOrder, HostReport } from './installedHost';

const ANSWERS_WITHIN_MS = 30_000;

/**
 * Has a process of its own load an installed package and run a node of it. The process finds modules
 * as n8n has it: through NODE_PATH, from a folder that is none of the package's parents. It is plain
 * Node.js without a loader of ours, which would find them in other ways.
 */
export async function playN8n(order: HostOrder): Promise<HostReport> {
	const folder = await mkdtemp(path.join(tmpdir(), 'digital-sales-host-'));
	try {
		const entry = path.join(folder, 'host.js');
		await build({
			entryPoints: [path.join(__dirname, 'installedHost.ts')],
			outfile: entry,
			bundle: true,
			packages: 'external',
			// Only the installed package may answer, so that of the sources is left out.
			external: ['*.node', '*.credentials'],
			platform: 'node',
			target: 'node20',
			logLevel: 'error',
		});
		return await ask(entry, order);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

async function ask(entry: string, order: HostOrder): Promise<HostReport> {
	return await new Promise((resolve, reject) => {
		const child = fork(entry, [], {
			cwd: path.dirname(entry),
			env: {
				PATH: process.env.PATH,
				HOME: process.env.HOME,
				TMPDIR: process.env.TMPDIR,
				NODE_ENV: 'production',
				NODE_PATH: path.join(ROOT, 'node_modules'),
			},
			execArgv: [],
			stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
			timeout: ANSWERS_WITHIN_MS,
		});
		let output = '';
		for (const stream of [child.stdout, child.stderr]) {
			stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
		}
		let answer: HostReport | { failed: string } | undefined;
		child.once('message', (message) => (answer = message as typeof answer));
		child.once('error', reject);
		child.once('close', (code) => {
			if (answer !== undefined && !('failed' in answer)) resolve(answer);
			else reject(new Error(`${answer?.failed ?? `No answer (code ${code})`}\n${output}`));
		});
		child.send(order);
	});
}
