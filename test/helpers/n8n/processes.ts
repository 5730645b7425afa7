import { type ChildProcess, execFile, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const PATIENCE_MS = 10_000;
const TAIL_LINES = 15;

const running = new Set<ChildProcess>();
const cleanUps = new Set<() => Promise<void>>();
let watching = false;
let ending = false;

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
	if (child.pid === undefined) return;
	try {
		process.kill(-child.pid, signal);
	} catch {
		// The group has already ended.
	}
}

function endAllNow(): void {
	for (const child of running) signalGroup(child, 'SIGKILL');
}

async function endOnSignal(signal: NodeJS.Signals): Promise<void> {
	if (ending) {
		// A person who presses Ctrl-C again does not want to wait. Other signals follow without a person, because npm
		// ends before this process does.
		if (signal === 'SIGINT') process.exit(130);
		return;
	}
	ending = true;
	if (signal === 'SIGINT') process.stdout.write('\n');
	// Later starts may depend on earlier ones.
	for (const cleanUp of [...cleanUps].reverse()) await cleanUp().catch(() => {});
	process.exit(signal === 'SIGINT' ? 130 : 143);
}

function watchOwnEnd(): void {
	if (watching) return;
	watching = true;
	process.once('exit', endAllNow);
	// If the terminal was closed, writing to it must not stop the clean-up.
	process.stdout.on('error', () => {});
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => void endOnSignal(signal));
	}
}

/**
 * Runs `cleanUp` when a signal asks this process to end.
 *
 * @returns a function that cancels this
 */
export function onEnd(cleanUp: () => Promise<void>): () => void {
	watchOwnEnd();
	cleanUps.add(cleanUp);
	return () => cleanUps.delete(cleanUp);
}

/** Does nothing after a signal, because then the signal ends the process and causes the failures. */
export function leave(code: number, lastLine: string): void {
	if (ending) return;
	process.stdout.write(`${lastLine}\n`);
	process.exit(code);
}

/** The process leads a group, which ends with this process at the latest. */
export function startGroup(command: string, args: string[], options: SpawnOptions): ChildProcess {
	watchOwnEnd();
	const child = spawn(command, args, { ...options, detached: true });
	running.add(child);
	child.once('exit', () => {
		running.delete(child);
		signalGroup(child, 'SIGKILL');
	});
	child.once('error', () => running.delete(child));
	return child;
}

export function hasEnded(child: ChildProcess): boolean {
	return child.exitCode !== null || child.signalCode !== null;
}

/** Kills the group if it does not end in time. */
export async function endGroup(child: ChildProcess): Promise<void> {
	// Without an id, the process never started and never ends.
	if (child.pid === undefined || hasEnded(child)) return;
	const gone = once(child, 'exit');
	child.kill('SIGTERM');
	await Promise.race([gone, pause(PATIENCE_MS, undefined, { ref: false })]);
	await killGroup(child);
}

export async function killGroup(child: ChildProcess): Promise<void> {
	if (child.pid === undefined || hasEnded(child)) return;
	const gone = once(child, 'exit');
	signalGroup(child, 'SIGKILL');
	await gone;
}

export async function tail(file: string): Promise<string> {
	const text = await readFile(file, 'utf8').catch(() => '');
	return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}

/** @throws Error with the end of the log if the command fails */
export async function run(
	command: string,
	args: string[],
	{ cwd, log, env }: { cwd: string; log: string; env?: NodeJS.ProcessEnv },
): Promise<void> {
	await mkdir(path.dirname(log), { recursive: true });
	const output = createWriteStream(log, { flags: 'a' });
	await once(output, 'open');
	const child = startGroup(command, args, {
		cwd,
		env: { ...process.env, ...env },
		stdio: ['ignore', output, output],
	});
	const code = await new Promise<number | null>((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', resolve);
	}).finally(() => output.close());
	if (code !== 0) {
		throw new Error(
			`"${command} ${args.join(' ')}" failed with code ${code}.\n${await tail(log)}\n(all of it: ${log})`,
		);
	}
}

/** Returns the output of a short command. */
export async function capture(command: string, args: string[], cwd: string): Promise<string> {
	const { stdout } = await promisify(execFile)(command, args, { cwd });
	return stdout.trim();
}

/** All callers await the same run. */
export function onlyOnce<T>(work: () => Promise<T>): () => Promise<T> {
	let doing: Promise<T> | undefined;
	return async () => await (doing ??= work());
}

/** Steps that run in the end, even if a signal ends this process. */
export class CleanUp {
	private readonly steps: Array<() => Promise<void>> = [];

	/** Runs the last step first. If a step fails, the others still run. */
	readonly run = onlyOnce(async () => await this.runSteps().finally(this.forget));

	private readonly forget = onEnd(this.run);

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

export const LOOPBACK = '127.0.0.1';

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
