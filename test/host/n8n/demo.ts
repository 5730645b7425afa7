import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installHost } from './host';
import { runJourney } from './journey';
import { once } from './once';
import { DATA_FOLDER } from './paths';
import { leave, onEnd } from './processes';
import { setUp, type SetUp } from './setUp';
import { messageOf, say, secondsSince, step } from './terminal';

const WIDTH = 32;

async function demo(): Promise<void> {
	const start = Date.now();
	say('Digital Sales: from the catalog to a verified sale, in a real n8n\n');
	await installHost();
	const userFolder = await mkdtemp(path.join(tmpdir(), 'digital-sales-demo-'));
	let ready: SetUp | undefined;
	const cleanUp = once(async () => {
		await ready?.stop();
		await rm(userFolder, { recursive: true, force: true, maxRetries: 3 });
	});
	const forget = onEnd(cleanUp);
	const results: boolean[] = [];
	try {
		ready = await setUp({ userFolder, step, log: path.join(DATA_FOLDER, 'demo.log') });
		say('');
		await runJourney(ready, ({ what, figures, passed }) => {
			results.push(passed);
			say(`  ${passed ? 'PASS' : 'FAIL'}  ${what.padEnd(WIDTH)}${figures}`);
		});
	} finally {
		await cleanUp();
		forget();
	}
	const failed = results.filter((passed) => !passed).length;
	if (failed > 0) return leave(1, `\n${failed} of ${results.length} steps failed.`);
	leave(0, `\nAll ${results.length} steps passed in ${secondsSince(start)}.`);
}

demo().catch((error: unknown) => {
	leave(1, `\n  FAIL  ${messageOf(error)}\n\nThe demo failed.`);
});
