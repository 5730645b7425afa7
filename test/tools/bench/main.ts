import { messageOf, say, step } from '../../helpers/n8n/terminal';
import { charges, gets, list } from './actions';
import { Bench } from './bench';
import { notices } from './notices';
import type { Row } from './rows';
import { waits } from './waits';

const GROUPS = { list, gets, charges, notices, waits };

/** Measures the named groups, or all. The exit code is 1 if a goal is missed. */
async function main(names: string[]): Promise<void> {
	const all = Object.keys(GROUPS);
	const unknown = names.find((name) => !all.includes(name));
	if (unknown !== undefined)
		throw new Error(`There is no ${unknown}; there are ${all.join(', ')}.`);

	const bench = await step('Building, and starting n8n', async () => await Bench.open());
	const rows: Row[] = [];
	try {
		for (const [name, measure] of Object.entries(GROUPS)) {
			if (names.length > 0 && !names.includes(name)) continue;
			const measured = await step(name, async () => await measure(bench));
			say(`${measured.map(({ text }) => text).join('\n')}\n`);
			rows.push(...measured);
		}
	} finally {
		await bench.close();
	}

	const missed = rows.filter(({ isMet }) => !isMet);
	say(`${rows.length - missed.length} of ${rows.length} goals met.`);
	if (missed.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
