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
 * What a change is tried with, one after the other as long as no test has noticed it. Code that also
 * runs when a module is loaded is reached by all tests, which take a minute: those that reach it by
 * themselves come first, then those that need no engine, which take seconds, then all.
 */
const STEPS = [
	{ tests: 'tests that reach a change by themselves', options: { ignoreStatic: true } },
	{
		tests: 'unit tests, for what runs when a module is loaded',
		options: { jest: { config: { testMatch: ['<rootDir>/test/mutation/unit.test.ts'] } } },
		isFor: atLoad,
	},
	{ tests: 'all tests, for what is left of that', options: {}, isFor: atLoad },
];

function atLoad(mutant) {
	return mutant.static && !isNoticed(mutant);
}

/** The verdicts on every change in these files, or parts of files; they are kept after each step. */
async function tryAll(patterns) {
	const verdicts = new Map();
	for (const { tests, options, isFor } of STEPS) {
		const known = [...verdicts.values()];
		const mutate = isFor ? known.filter(isFor).map(placeOf) : patterns;
		if (mutate.length === 0) continue;
		for (const mutant of await new Stryker({ mutate, ...options }).runMutationTest()) {
			const before = verdicts.get(keyOf(mutant));
			// The place of a change also holds smaller ones, which tests may have noticed before.
			if (before && isNoticed(before)) continue;
			verdicts.set(keyOf(mutant), { ...mutant, static: before?.static ?? mutant.static });
		}
		await writeFile(VERDICTS, JSON.stringify([...verdicts.values()]));
		process.stdout.write(`After the ${tests}:\n${table([...verdicts.values()]).join('')}\n`);
	}
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
await mkdir(dirname(VERDICTS), { recursive: true });
await tryAll(patterns.length > 0 ? patterns : ['nodes/**/*.ts']);
