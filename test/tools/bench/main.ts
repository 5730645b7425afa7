import { messageOf, say, step } from '../../helpers/n8n/terminal';
import { Bench } from './bench';
import { isMet, type Outcome } from './outcome';
import { readMachine, tableOf } from './report';
import { charges } from './rows/charges';
import { gets } from './rows/gets';
import { list } from './rows/list';
import { notices } from './rows/notices';
import { waits } from './rows/waits';

type Group = [title: string, measure: (bench: Bench) => Promise<Outcome[]>];

const GROUPS: Record<string, Group> = {
	list: ['The catalog from 50 ms away', list],
	gets: ['One request for each item', gets],
	charges: ['A list of charges', charges],
	notices: ['Notices of payments', notices],
	waits: ['Executions that wait for a payment', waits],
};

/** Measures the named groups, or all. */
async function main(names: string[]): Promise<void> {
	const groups = Object.entries(GROUPS).filter(
		([name]) => names.length === 0 || names.includes(name),
	);
	if (groups.length < names.length) {
		throw new Error(`There is nothing else to measure than ${Object.keys(GROUPS).join(', ')}.`);
	}
	say(await readMachine());
	const bench = await step('Building, and starting n8n', async () => await Bench.open());
	const all: Outcome[] = [];
	try {
		for (const [, [title, measure]] of groups) {
			const outcomes = await step(title, async () => await measure(bench));
			say(`\n${tableOf(outcomes, true)}\n`);
			all.push(...outcomes);
		}
	} finally {
		await bench.close();
	}
	const missed = all.filter((outcome) => !isMet(outcome));
	say(`${all.length - missed.length} of ${all.length} goals met.`);
	for (const { what } of missed) say(`Missed: ${what}`);
	if (missed.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
