import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded, startGroup, tail } from '../../n8n/processes';

const READY_WITHIN_MS = 30_000;
const POLL_MS = 50;

async function isProgram(file: string): Promise<boolean> {
	return await access(file, constants.X_OK).then(
		() => true,
		() => false,
	);
}

/** The path of a program; `more` are folders beside those of PATH. Says what to install without it. */
export async function findProgram(
	name: string,
	debianPackage: string,
	more: string[] = [],
): Promise<string> {
	const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...more];
	for (const folder of folders) {
		const file = path.join(folder, name);
		if (await isProgram(file)) return file;
	}
	throw new Error(
		`${name} is missing. On Debian and Ubuntu: sudo apt-get install ${debianPackage}`,
	);
}

/**
 * A command that runs `program` as `user` (undefined: as oneself) and has the system end it when this
 * process ends in whichever way.
 */
export async function tied(
	program: string,
	args: string[],
	{ user, endBy }: { user?: string; endBy: 'KILL' | 'QUIT' },
): Promise<[command: string, args: string[]]> {
	const setpriv = await findProgram('setpriv', 'util-linux');
	const as = user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--init-groups'];
	return [setpriv, [...as, '--pdeathsig', endBy, program, ...args]];
}

/** Starts a server with its output in `log`, and waits until `isReady`. */
export async function startServer(
	[command, args]: [command: string, args: string[]],
	{ cwd, log, isReady }: { cwd: string; log: string; isReady: () => Promise<boolean> },
): Promise<ChildProcess> {
	const output = createWriteStream(log, { flags: 'a' });
	await new Promise((resolve) => output.once('open', resolve));
	const child = startGroup(command, args, { cwd, stdio: ['ignore', output, output] });
	child.once('exit', () => output.close());
	const deadline = Date.now() + READY_WITHIN_MS;
	while (!(await isReady())) {
		if (hasEnded(child) || Date.now() > deadline) {
			throw new Error(
				`${path.basename(command)} ${args.join(' ')} did not start.\n${await tail(log)}`,
			);
		}
		await pause(POLL_MS);
	}
	return child;
}
