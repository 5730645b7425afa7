import { installHost } from './host';
import { runJourney } from './journey';
import { leave } from './processes';
import { setUp } from './setUp';
import { messageOf, say, secondsSince, step } from './terminal';

const WIDTH = 32;

async function demo(): Promise<void> {
	const start = Date.now();
	say('Digital Sales: from the catalog to a verified sale, in a real n8n\n');
	await installHost();
	const ready = await setUp('demo', { step });
	const results: boolean[] = [];
	try {
		say('');
		await runJourney(ready, ({ what, figures, passed }) => {
			results.push(passed);
			say(`  ${passed ? 'PASS' : 'FAIL'}  ${what.padEnd(WIDTH)}${figures}`);
		});
	} finally {
		await ready.n8n.close();
	}
	const failed = results.filter((passed) => !passed).length;
	if (failed > 0) return leave(1, `\n${failed} of ${results.length} steps failed.`);
	leave(0, `\nAll ${results.length} steps passed in ${secondsSince(start)}.`);
}

demo().catch((error: unknown) => {
	leave(1, `\n  FAIL  ${messageOf(error)}\n\nThe demo failed.`);
});
