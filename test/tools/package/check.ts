import { ROOT } from '../../host/n8n/paths';
import { startGroup } from '../../host/n8n/processes';
import { messageOf, say, secondsSince } from '../../host/n8n/terminal';

async function holds(command: string): Promise<boolean> {
	const child = startGroup('npm', ['run', command], { cwd: ROOT, stdio: 'inherit' });
	return await new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (code) => resolve(code === 0));
	});
}

/**
 * Runs the named scripts of package.json one after the other. All of them run, also after one has
 * failed: somebody who fixes a change wants the whole list.
 */
async function main(commands: string[]): Promise<void> {
	const outcomes: string[] = [];
	for (const command of commands) {
		const start = Date.now();
		const outcome = (await holds(command)) ? 'holds' : 'FAILED';
		outcomes.push(`  ${command.padEnd(12)}${outcome.padEnd(8)}${secondsSince(start)}`);
		if (outcome === 'FAILED') process.exitCode = 1;
	}
	say(`\n${outcomes.join('\n')}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
