import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const HEARTBEAT_MS = 2_000;
const STALE_MS = 30_000;

// Not by instanceof: in a test runner the errors of Node.js are of another Error than ours.
function hasCode(error: unknown, code: string): boolean {
	return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return hasCode(error, 'EPERM');
	}
}

async function take(file: string): Promise<boolean> {
	try {
		const handle = await open(file, 'wx');
		await handle.writeFile(String(process.pid));
		await handle.close();
		return true;
	} catch (error) {
		if (hasCode(error, 'EEXIST')) return false;
		throw error;
	}
}

// The age counts beside the process id, because an id is given out again after a restart of the
// machine; and a file without an id yet is being written this very moment.
async function isAbandoned(file: string): Promise<boolean> {
	try {
		const [owner, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
		if (Date.now() - mtimeMs > STALE_MS) return true;
		return owner !== '' && !isAlive(Number(owner));
	} catch {
		return false;
	}
}

/**
 * Runs `work` while no other process holds the lock `file`, and waits for its turn. A lock whose
 * process is gone is taken over.
 */
export async function withLock<T>(
	file: string,
	work: () => Promise<T>,
	onWait: () => void = () => {},
): Promise<T> {
	await mkdir(path.dirname(file), { recursive: true });
	let waiting = false;
	while (!(await take(file))) {
		if (await isAbandoned(file)) {
			await rm(file, { force: true });
			continue;
		}
		if (!waiting) onWait();
		waiting = true;
		await pause(500);
	}
	const heartbeat = setInterval(() => {
		const now = new Date();
		utimes(file, now, now).catch(() => {});
	}, HEARTBEAT_MS);
	try {
		return await work();
	} finally {
		clearInterval(heartbeat);
		await rm(file, { force: true });
	}
}
