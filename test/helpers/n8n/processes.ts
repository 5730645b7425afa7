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
		// A group whose last process has ended is what was wanted.
	}
}

function endAllNow(): void {
	for (const child of running) signalGroup(child, 'SIGKILL');
}

async function endOnSignal(signal: NodeJS.Signals): Promise<void> {
	if (ending) {
		// A second Ctrl-C is from somebody who does not want to wait. Other signals follow the first
		// one without a second Ctrl-C, because npm ends before this process does.
		if (signal === 'SIGINT') process.exit(130);
		return;
	}
	ending = true;
	if (signal === 'SIGINT') process.stdout.write('\n');
	// What was started last may still be using what was made first.
	for (const cleanUp of [...cleanUps].reverse()) await cleanUp().catch(() => {});
	process.exit(signal === 'SIGINT' ? 130 : 143);
}

function watchOwnEnd(): void {
	if (watching) return;
	watching = true;
	process.once('exit', endAllNow);
	// A terminal that has been closed must not keep what it started from being ended.
	process.stdout.on('error', () => {});
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => void endOnSignal(signal));
	}
}

/**
 * Has `cleanUp` run when this process is asked to end (Ctrl-C, SIGTERM, SIGHUP).
 * Returns what takes it off the list again.
 */
export function onEnd(cleanUp: () => Promise<void>): () => void {
	watchOwnEnd();
	cleanUps.add(cleanUp);
	return () => cleanUps.delete(cleanUp);
}

/**
 * Ends this process with a last line. While a signal is being followed it does nothing: what fails
 * then fails because everything is being ended.
 */
export function leave(code: number, lastLine: string): void {
	if (ending) return;
	process.stdout.write(`${lastLine}\n`);
	process.exit(code);
}

/** Starts a process that leads a group of its own; the group ends with this process at the latest. */
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

/** Whether a process has ended, in whichever way. */
export function hasEnded(child: ChildProcess): boolean {
	return child.exitCode !== null || child.signalCode !== null;
}

/** Asks a group to end, and ends it by force if it has not done so in time. */
export async function endGroup(child: ChildProcess): Promise<void> {
	// Without an id it never started, and will never end.
	if (child.pid === undefined || hasEnded(child)) return;
	const gone = once(child, 'exit');
	child.kill('SIGTERM');
	await Promise.race([gone, pause(PATIENCE_MS, undefined, { ref: false })]);
	await killGroup(child);
}

/** Ends a group by force, and waits until it is gone. */
export async function killGroup(child: ChildProcess): Promise<void> {
	if (child.pid === undefined || hasEnded(child)) return;
	const gone = once(child, 'exit');
	signalGroup(child, 'SIGKILL');
	await gone;
}

/** The last lines of a log, for an error message. */
export async function tail(file: string): Promise<string> {
	const text = await readFile(file, 'utf8').catch(() => '');
	return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}

/**
 * Runs a command to its end with its output in `log`. Rejects with the end of that output where it
 * fails.
 */
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

/** Runs a short command and returns what it printed; rejects where it fails. */
export async function capture(command: string, args: string[], cwd: string): Promise<string> {
	const { stdout } = await promisify(execFile)(command, args, { cwd });
	return stdout.trim();
}

/** A piece of work that is done at most once; everybody who asks for it awaits the same doing. */
export function onlyOnce<T>(work: () => Promise<T>): () => Promise<T> {
	let doing: Promise<T> | undefined;
	return async () => await (doing ??= work());
}

/** What has to be closed or removed in the end, also if this process is asked to end before. */
export class CleanUp {
	private readonly steps: Array<() => Promise<void>> = [];

	/** Runs the steps, the last one added first, and the others also if one fails. */
	readonly run = onlyOnce(async () => await this.runSteps().finally(this.forget));

	private readonly forget = onEnd(this.run);

	/** Begins something that is closed in the end; if that fails, closes at once what has begun. */
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

	/** Makes a temporary folder that is removed again. */
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

/** Takes a port of the loopback address, any free one for 0; rejects if it is taken. */
export async function listen(port: number): Promise<Server> {
	const server = createServer().listen(port, LOOPBACK);
	await once(server, 'listening');
	return server;
}

/**
 * A port that is free on the loopback address right now: the preferred one, or any other if that
 * one is taken or none is preferred.
 */
export async function freePort(preferred = 0): Promise<number> {
	const server = await listen(preferred).catch(async () => await listen(0));
	const { port } = server.address() as AddressInfo;
	await promisify(server.close.bind(server))();
	return port;
}
