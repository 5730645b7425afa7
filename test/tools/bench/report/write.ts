import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from '../../../host/n8n/paths';
import { writeSection } from '../../../support/measurements';
import { isMet, ratioOf, type GroupOutcome } from '../outcome';
import type { Machine } from './machine';
import { svgOf } from './plot';
import { tableOf } from './table';

const TITLE = "Side by side with n8n's own nodes, in a real n8n";
const COMMAND = 'npm run bench';
const DOCS = path.join(ROOT, 'docs');
const JSON_FILE = path.join(DOCS, 'measurements.json');

/** What one group of rows gave, under its name and heading. */
export type Measured = GroupOutcome & { name: string; title: string };

/** Keeps the figures of a whole run in the documentation: tables, plots, and all of it as JSON. */
export async function keepFigures(machine: Machine, groups: readonly Measured[]): Promise<void> {
	await mkdir(path.join(DOCS, 'plots'), { recursive: true });
	for (const plot of groups.flatMap(({ plots }) => plots ?? [])) {
		await writeFile(path.join(DOCS, 'plots', `${plot.name}.svg`), svgOf(plot));
	}
	const rows = groups.map(({ name, title, outcomes }) => ({
		name,
		title,
		rows: outcomes.map((outcome) => ({
			...outcome,
			ratio: ratioOf(outcome),
			met: isMet(outcome),
		})),
	}));
	const json = JSON.stringify({ command: COMMAND, machine, groups: rows });
	await writeFile(JSON_FILE, await formatted(json, JSON_FILE));
	const markdown = [introduction(machine), ...groups.map(section)].join('\n\n');
	writeSection(TITLE, await formatted(markdown, path.join(DOCS, 'measurements.md')));
}

function introduction(machine: Machine): string {
	return [
		`Made by \`${COMMAND}\` on ${machine.at}: ${machine.package} in n8n ${machine.n8n} on Node.js ${machine.node}; the stand-ins of the service and what sends the requests run on ${machine.benchNode} on the same machine (${machine.cores} cores of ${machine.cpu}, ${machine.memoryGib} GiB, load ${machine.load} before the start). The same figures [as JSON](measurements.json).`,
		'Both sides are workflows in the same process of n8n and run in turn, after a warm-up. Where it is not said otherwise, a row is the time between the POST that starts a workflow and the answer that its last node ends, and successful executions are not stored, on either side. Figures are medians, with the least and the most in brackets.',
	].join('\n\n');
}

function section({ title, method, outcomes, plots = [] }: Measured): string {
	const notes = outcomes.flatMap((outcome) => [
		...(outcome.notes ?? []),
		...(isMet(outcome) === false && outcome.goal?.missedBecause !== undefined
			? [`Missed, ${outcome.what}: ${outcome.goal.missedBecause}`]
			: []),
	]);
	return [
		`### ${title}`,
		method,
		tableOf(outcomes),
		notes.map((note) => `- ${note}`).join('\n'),
		...plots.map((plot) => `![${plot.title}](plots/${plot.name}.svg)`),
	].join('\n\n');
}

async function formatted(text: string, file: string): Promise<string> {
	return await format(text, { ...(await resolveConfig(file)), filepath: file });
}
