import { spawn } from 'node:child_process';
import { ROOT } from '../helpers/n8n/paths';
import { messageOf, say, secondsSince } from '../helpers/n8n/terminal';

type Steps = Record<string, string>;

/** The checks that a change must pass. */
const CHECK: Steps = {
	lint: 'npm run lint',
	unused: 'knip && knip --production --include files,exports,types',
	coverage: 'jest --coverage --randomize',
	build: 'npm run build',
	scan: 'tsx test/tools/package/scan.ts',
};

/** Run only if named: one repeats all tests, the other only counts. */
const SELDOM: Steps = { slow: 'tsx test/tools/slow.ts', air: 'tsx test/tools/air.ts' };

/** Renews the files that are generated from the code. */
const WRITE: Steps = {
	recipes: 'tsx examples/source/write.ts',
	previews: 'jest test/engine/outputPreview',
	format: 'prettier --write . --log-level warn',
};

async function holds(command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
	const child = spawn('npm', ['exec', '--call', command], {
		cwd: ROOT,
		env,
		stdio: 'inherit',
	});
	return await new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (code) => resolve(code === 0));
	});
}

/** All checks, all that `write` renews, or the named check. */
function chosen(name: string | undefined): Steps {
	if (name === undefined) return CHECK;
	if (name === 'write') return WRITE;
	const known: Steps = { ...CHECK, ...SELDOM };
	const command = known[name];
	if (command !== undefined) return { [name]: command };
	throw new Error(`There is no step ${name}; there are write, ${Object.keys(known).join(', ')}.`);
}

/**
 * Runs all checks, or the named step with the arguments after its name. A failed step does not stop the others, because
 * a person who fixes a change wants the whole list.
 */
async function main([name, ...options]: string[]): Promise<void> {
	const steps = chosen(name);
	const env = { ...process.env, ...(steps === WRITE && { WRITE: '1' }) };
	const outcomes: string[] = [];

	for (const [step, command] of Object.entries(steps)) {
		const start = Date.now();
		const outcome = (await holds([command, ...options].join(' '), env)) ? 'holds' : 'FAILED';
		outcomes.push(`  ${step.padEnd(12)}${outcome.padEnd(8)}${secondsSince(start)}`);
		if (outcome === 'FAILED') process.exitCode = 1;
	}

	say(`\n${outcomes.join('\n')}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
