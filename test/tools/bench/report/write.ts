import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from '../../../host/n8n/paths';
import { writeSection } from '../../../support/measurements';
import { isMet, type GroupOutcome } from '../outcome';
import type { Machine } from './machine';
import { svgOf } from './plot';
import { tableOf } from './table';

const DOCS = path.join(ROOT, 'docs');

/** What one group of rows gave, under its name and heading. */
export type Measured = GroupOutcome & { name: string; title: string };

/** Keeps the figures of a group in the documentation: its table and its plots. */
export async function keepFigures(machine: Machine, group: Measured): Promise<void> {
	await mkdir(path.join(DOCS, 'plots'), { recursive: true });
	for (const plot of group.plots ?? []) {
		await writeFile(path.join(DOCS, 'plots', `${plot.name}.svg`), svgOf(plot));
	}
	const file = path.join(DOCS, 'measurements.md');
	const options = { ...(await resolveConfig(file)), filepath: file };
	writeSection(`Bench: ${group.title}`, await format(section(machine, group), options));
}

function section(machine: Machine, { name, method, outcomes, plots = [] }: Measured): string {
	const notes = outcomes.flatMap((outcome) => [
		...(outcome.notes ?? []),
		...(isMet(outcome) === false && outcome.goal?.missedBecause !== undefined
			? [`Missed, ${outcome.what}: ${outcome.goal.missedBecause}`]
			: []),
	]);
	return [
		`Made by \`npm run bench -- ${name}\` on ${machine.at}: ${machine.package} in n8n ${machine.n8n} on Node.js ${machine.node}; the stand-ins of the service and what sends the requests run on ${machine.benchNode} on the same machine (${machine.cores} cores of ${machine.cpu}, ${machine.memoryGib} GiB, load ${machine.load} before the start).`,
		method,
		tableOf(outcomes),
		notes.map((note) => `- ${note}`).join('\n'),
		...plots.map((plot) => `![${plot.title}](plots/${plot.name}.svg)`),
	].join('\n\n');
}
