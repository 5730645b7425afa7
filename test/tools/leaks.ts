import { ROOT } from '../helpers/n8n/paths';
import { endGroup, startGroup } from '../helpers/n8n/processes';
import { messageOf, say } from '../helpers/n8n/terminal';

const DONE = /^Ran all test suites/m;
const OPEN_HANDLES = /open handles? potentially keeping Jest from exiting/;
/** Jest looks for open handles for a second after the last test. After that it ends soon or never. */
const ENDS_WITHIN_MS = 10_000;

/** Runs all tests in one process, and fails if a test leaves a server, socket or timer open. */
async function main(): Promise<void> {
	const child = startGroup('npx', ['jest', '--runInBand', '--detectOpenHandles', '--randomize'], {
		cwd: ROOT,
		stdio: ['ignore', 'inherit', 'pipe'],
	});
	let output = '';
	let late: NodeJS.Timeout | undefined;
	child.stderr?.on('data', (chunk: Buffer) => {
		process.stderr.write(chunk);
		output += chunk.toString();
		if (DONE.test(output)) late ??= setTimeout(() => void endGroup(child), ENDS_WITHIN_MS);
	});
	const code = await new Promise<number | null>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', resolve);
	});
	clearTimeout(late);
	const left = code === null || OPEN_HANDLES.test(output);
	say(left ? 'Something is left open (see above).' : 'Nothing is left open.');
	if (left || code !== 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
