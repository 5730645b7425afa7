import { installHost } from './host';
import { runJourney } from './journey';
import { type N8n, startWithJourney } from './n8n';
import { runProgram, say, secondsSince, step } from './terminal';

const WIDTH = 32;

let running: N8n | undefined;

async function demo(): Promise<void> {
	const start = Date.now();
	say('Digital Sales: from the catalog to a verified sale, in a real n8n\n');
	await installHost();
	const { n8n, journey } = await step('Building the package, starting n8n', async () => {
		return await startWithJourney('demo');
	});
	running = n8n;

	let [passed, failed] = [0, 0];
	await runJourney(n8n, journey, ({ what, figures, passed: isPassed }) => {
		if (isPassed) passed += 1;
		else failed += 1;
		say(`  ${isPassed ? 'PASS' : 'FAIL'}  ${what.padEnd(WIDTH)}${figures}`);
	});
	if (failed > 0) throw new Error(`${failed} of ${passed + failed} steps failed.`);
	await n8n.close();
	say(`\nAll ${passed} steps passed in ${secondsSince(start)}.`);
	process.exit();
}

runProgram(demo, async () => await running?.close());
