import { type ChildProcess, execFile, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';

export const LOOPBACK = '127.0.0.1';
const PATIENCE_MS = 10_000;
const TAIL_LINES = 15;
const MOST_OUTPUT = 64 * 1024 * 1024;

const outputSchema = z.object({ stdout: z.string(), stderr: z.string() });

/**
 * Returns the output of a command.
 *
 * @throws Error with the end of the output if the command fails
 */
export async function run(
	command: string,
	args: string[],
	cwd: string,
	env: NodeJS.ProcessEnv = {},
): Promise<string> {
	const options = { cwd, env: { ...process.env, ...env }, maxBuffer: MOST_OUTPUT };
	const ended = promisify(execFile)(command, args, options);
	const { stdout } = await ended.catch((error: unknown) => {
		const output = outputSchema.safeParse(error).data;
		const said = output ? lastLines(output.stdout + output.stderr) : String(error);
		throw new Error(`"${command} ${args.join(' ')}" failed.\n${said}`);
	});
	return stdout.trim();
}

/** The process leads a group, all of which ends with it. */
export function startGroup(command: string, args: string[], options: SpawnOptions): ChildProcess {
	const child = spawn(command, args, { ...options, detached: true });
	child.once('exit', () => signalGroup(child, 'SIGKILL'));
	// Without an id, the process never started, which whoever waits for it finds.
	child.once('error', () => undefined);
	return child;
}

export function hasEnded(child: ChildProcess): boolean {
	return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Kills the group if it does not end in time. */
export async function endGroup(child: ChildProcess): Promise<void> {
	if (hasEnded(child)) return;
	const gone = once(child, 'exit');
	child.kill('SIGTERM');
	await Promise.race([gone, pause(PATIENCE_MS, undefined, { ref: false })]);
	await killGroup(child);
}

export async function killGroup(child: ChildProcess): Promise<void> {
	if (hasEnded(child)) return;
	const gone = once(child, 'exit');
	signalGroup(child, 'SIGKILL');
	await gone;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, signal);
	} catch {
		// The group has already ended.
	}
}

export async function tail(file: string): Promise<string> {
	return lastLines(await readFile(file, 'utf8').catch(() => ''));
}

function lastLines(text: string): string {
	return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}

/** All callers await the same run. */
export function onlyOnce<T>(work: () => Promise<T>): () => Promise<T> {
	let doing: Promise<T> | undefined;
	return async () => await (doing ??= work());
}

/** Steps that run in the end. */
export class CleanUp {
	private readonly steps: Array<() => Promise<void>> = [];

	/** Runs the last step first. If a step fails, the others still run. */
	readonly run = onlyOnce(async () => await this.runSteps());

	/** If `work` fails, its steps run at once. */
	static async begin<T>(work: (cleanUp: CleanUp) => Promise<T>): Promise<T> {
		const cleanUp = new CleanUp();
		return await work(cleanUp).catch(async (error: unknown) => {
			await cleanUp.run();
			throw error;
		});
	}

	add(step: () => Promise<void>): void {
		this.steps.push(step);
	}

	async folder(name: string): Promise<string> {
		const folder = await mkdtemp(path.join(tmpdir(), `digital-sales-${name}-`));
		this.add(async () => await rm(folder, { recursive: true, force: true, maxRetries: 3 }));
		return folder;
	}

	private async runSteps(): Promise<void> {
		const step = this.steps.pop();
		await step?.().finally(async () => await this.runSteps());
	}
}

/** Port 0 means any free port. Rejects if the port is taken. */
export async function listen(port: number): Promise<Server> {
	const server = createServer().listen(port, LOOPBACK);
	await once(server, 'listening');
	return server;
}

/** Returns the preferred port, or another if it is taken. */
export async function freePort(preferred = 0): Promise<number> {
	const server = await listen(preferred).catch(async () => await listen(0));
	const { port } = server.address() as AddressInfo;
	await promisify(server.close.bind(server))();
	return port;
}
