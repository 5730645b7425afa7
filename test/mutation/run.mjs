import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

const VERDICTS = 'reports/mutation/verdicts.json';
const NOTICED = ['Killed', 'Timeout'];
/** What Stryker calls neither noticed nor unnoticed, such as code that does not compile, has no say. */
const COUNTED = [...NOTICED, 'Survived', 'NoCoverage'];

const isNoticed = (mutant) => NOTICED.includes(mutant.status);

const placeOf = ({ fileName, location: { start, end } }) =>
	`${relative('.', fileName)}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;

const keyOf = (mutant) => `${placeOf(mutant)} ${mutant.mutatorName} ${mutant.replacement}`;

/**
 * Makes every change in these files, or parts of files, and tries each with the tests that reach it.
 * Code that also runs when a module is loaded is reached by all tests, which take a minute: they are
 * run where those that reach it by themselves have noticed nothing.
 */
async function verdictsOn(mutate) {
	const verdicts = new Map();
	for (const mutant of await new Stryker({ mutate, ignoreStatic: true }).runMutationTest()) {
		verdicts.set(keyOf(mutant), mutant);
	}
	const left = [...verdicts.values()].filter((mutant) => mutant.static && !isNoticed(mutant));
	if (left.length === 0) return [...verdicts.values()];
	const again = new Stryker({ mutate: left.map(placeOf), ignoreStatic: false });
	for (const mutant of await again.runMutationTest()) {
		// The place of a change also holds smaller ones, which the first tests may have noticed.
		if (!isNoticed(verdicts.get(keyOf(mutant)))) verdicts.set(keyOf(mutant), mutant);
	}
	return [...verdicts.values()];
}

/** A line for each folder below the nodes, and one for all. */
function table(verdicts) {
	const folders = new Map();
	for (const mutant of verdicts.filter(({ status }) => COUNTED.includes(status))) {
		const folder = relative('nodes/DigitalSales', dirname(mutant.fileName)).split('/')[0];
		for (const name of [`${folder}/`, 'all']) {
			folders.set(name, [...(folders.get(name) ?? []), mutant]);
		}
	}
	return [...folders].map(([name, mutants]) => {
		const noticed = mutants.filter(isNoticed).length;
		const percent = ((100 * noticed) / mutants.length).toFixed(1);
		return `${name.padEnd(14)} ${noticed} of ${mutants.length} changes noticed: ${percent} %\n`;
	});
}

const patterns = process.argv.slice(2);
const verdicts = await verdictsOn(patterns.length > 0 ? patterns : ['nodes/**/*.ts']);
await mkdir(dirname(VERDICTS), { recursive: true });
await writeFile(VERDICTS, JSON.stringify(verdicts));
process.stdout.write(table(verdicts).join(''));
