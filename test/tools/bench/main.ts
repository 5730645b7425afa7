import { messageOf, say, step } from '../../helpers/n8n/terminal';
import { charges, gets, list } from './actions';
import { Bench } from './bench';
import { notices } from './notices';
import { isMet, lineOf, type Row } from './rows';
import { waits } from './waits';

const GROUPS: Record<string, (bench: Bench) => Promise<Row[]>> = {
	list,
	gets,
	charges,
	notices,
	waits,
};

/** Measures the named groups, or all. The exit code is 1 if a goal is missed. */
async function main(names: string[]): Promise<void> {
	const wanted = names.length === 0 ? Object.keys(GROUPS) : names;
	const unknown = wanted.find((name) => !(name in GROUPS));
	if (unknown !== undefined) {
		throw new Error(`There is no ${unknown}; there are ${Object.keys(GROUPS).join(', ')}.`);
	}

	const bench = await step('Building, and starting n8n', async () => await Bench.open());
	const all: Row[] = [];
	try {
		for (const name of wanted) {
			const rows = await step(name, async () => (await GROUPS[name]?.(bench)) ?? []);
			say(`${rows.map(lineOf).join('\n')}\n`);
			all.push(...rows);
		}
	} finally {
		await bench.close();
	}

	const missed = all.filter((row) => !isMet(row));
	say(`${all.length - missed.length} of ${all.length} goals met.`);
	if (missed.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
