import { messageOf, say, step } from '../../host/n8n/terminal';
import { Bench } from './bench';
import { type GroupOutcome, isFailure, isMet, type Outcome } from './outcome';
import { keepFigures, readMachine, tableOf } from './report';
import { charges } from './rows/charges';
import { gets } from './rows/gets';
import { list } from './rows/list';
import { notices } from './rows/notices';

interface Group {
	name: string;
	title: string;
	measure: (bench: Bench) => Promise<GroupOutcome>;
}

const GROUPS: readonly Group[] = [
	{ name: 'list', title: 'The catalog from 50 ms away', measure: list },
	{ name: 'gets', title: 'One request for each item', measure: gets },
	{ name: 'charges', title: 'A list of charges', measure: charges },
	{ name: 'notices', title: 'Notices of payments', measure: notices },
];

async function measureAll(groups: readonly Group[], isKept: boolean): Promise<Outcome[]> {
	const machine = await readMachine();
	const bench = await step('Building, and starting n8n', async () => await Bench.open());
	try {
		const measured: Outcome[] = [];
		for (const { name, title, measure } of groups) {
			const group = await step(title, async () => await measure(bench));
			show(group.outcomes);
			if (isKept) await keepFigures(machine, { name, title, ...group });
			measured.push(...group.outcomes);
		}
		return measured;
	} finally {
		await bench.close();
	}
}

function show(outcomes: readonly Outcome[]): void {
	say(`\n${tableOf(outcomes)}\n`);
	for (const note of outcomes.flatMap(({ notes }) => notes ?? [])) say(`- ${note}`);
	say('');
}

/**
 * Measures the groups that are named, or all. The documentation keeps the figures of a run of all of
 * them, and of any other with WRITE_MEASUREMENTS=1.
 */
async function main(names: string[]): Promise<void> {
	const unknown = names.filter((name) => !GROUPS.some((group) => group.name === name));
	if (unknown.length > 0) {
		const known = GROUPS.map(({ name }) => name).join(', ');
		throw new Error(`There is nothing called ${unknown.join(', ')}; there are ${known}.`);
	}
	const outcomes = await measureAll(
		GROUPS.filter(({ name }) => names.length === 0 || names.includes(name)),
		names.length === 0 || process.env.WRITE_MEASUREMENTS === '1',
	);
	const missed = outcomes.filter((outcome) => isMet(outcome) === false);
	const goals = outcomes.filter((outcome) => outcome.goal).length;
	say(`${goals - missed.length} of ${goals} goals met.`);
	for (const { what, goal } of missed) say(`Missed: ${what}${because(goal?.missedBecause)}`);
	if (outcomes.some(isFailure)) process.exitCode = 1;
}

function because(cause: string | undefined): string {
	return cause === undefined ? '' : ` (known: ${cause})`;
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
