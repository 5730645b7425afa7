import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from '../../../host/n8n/paths';
import { writeSection } from '../../../support/measurements';
import type { GroupOutcome } from '../outcome';
import type { Machine } from './machine';
import { svgOf } from './plot';
import { briefTableOf } from './table';

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

function section(machine: Machine, { name, outcomes, plots = [] }: Measured): string {
	return [
		`Made by \`npm run bench -- ${name}\` on ${machine.at}, n8n ${machine.n8n}, ${machine.cores} cores of ${machine.cpu}, load ${machine.load}.`,
		briefTableOf(outcomes),
		...plots.map((plot) => `![${plot.title}](plots/${plot.name}.svg)`),
	].join('\n\n');
}
