import path from 'node:path';
import { CleanUp } from './cleanUp';
import { installHost } from './host';
import { runJourney } from './journey';
import { DATA_FOLDER } from './paths';
import { leave } from './processes';
import { setUp } from './setUp';
import { messageOf, say, secondsSince, step } from './terminal';

const WIDTH = 32;

async function demo(): Promise<void> {
	const start = Date.now();
	say('Digital Sales: from the catalog to a verified sale, in a real n8n\n');
	await installHost();
	const cleanUp = new CleanUp();
	const results: boolean[] = [];
	try {
		const userFolder = await cleanUp.folder('demo');
		const ready = await setUp({ userFolder, step, log: path.join(DATA_FOLDER, 'demo.log') });
		cleanUp.add(ready.stop);
		say('');
		await runJourney(ready, ({ what, figures, passed }) => {
			results.push(passed);
			say(`  ${passed ? 'PASS' : 'FAIL'}  ${what.padEnd(WIDTH)}${figures}`);
		});
	} finally {
		await cleanUp.run();
	}
	const failed = results.filter((passed) => !passed).length;
	if (failed > 0) return leave(1, `\n${failed} of ${results.length} steps failed.`);
	leave(0, `\nAll ${results.length} steps passed in ${secondsSince(start)}.`);
}

demo().catch((error: unknown) => {
	leave(1, `\n  FAIL  ${messageOf(error)}\n\nThe demo failed.`);
});
