import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import manifest from '../../../package.json';
import { installHost } from '../../host/n8n/host';
import { ROOT } from '../../host/n8n/paths';
import { capture } from '../../host/n8n/processes';
import { markdownTable, writeSection } from '../../support/figures';
import {
	floorRatioOf,
	type Goal,
	type GroupOutcome,
	isMet,
	type Outcome,
	ratioOf,
	type Sample,
} from './outcome';

const GIB = 1_024 ** 3;

/** On what the figures were made. */
export interface Machine {
	cpu: string;
	cores: number;
	memoryGib: number;
	/** Of the last minute before the run began: other work on the machine makes figures worse. */
	load: number;
	/** What n8n runs on; the stand-ins run on the Node.js that started the bench. */
	node: string;
	benchNode: string;
	n8n: string;
	package: string;
	at: string;
}

/** Reads it from the machine; call it before the work begins. */
export async function readMachine(): Promise<Machine> {
	const host = await installHost();
	return {
		cpu: cpus()[0]?.model.trim() ?? 'unknown',
		cores: cpus().length,
		memoryGib: Math.round(totalmem() / GIB),
		load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
		node: await capture(host.node, ['--version'], ROOT),
		benchNode: process.version,
		n8n: await capture(host.node, [host.n8n, '--version'], ROOT),
		package: `${manifest.name} ${manifest.version}`,
		at: new Date().toISOString().slice(0, 10),
	};
}

const COLUMNS = [
	'what',
	'ours',
	'instead',
	'takes',
	'ours / instead',
	'n8n itself',
	'ours / n8n itself',
	'goal',
	'',
];

/** For the documentation: the medians of the rows that have a goal. */
function briefTableOf(outcomes: readonly Outcome[]): string {
	const rows = outcomes.flatMap((outcome) => {
		if (!outcome.goal) return [];
		const ratio = ratioOf(outcome);
		return [
			[
				outcome.what,
				`${number(outcome.ours.median)} ${outcome.unit}`,
				ratio === undefined ? '' : `${ratio.toFixed(2)} × ${outcome.peer?.name}`,
				floorRatioOf(outcome)?.toFixed(2) ?? '',
				`${goalText(outcome.goal, outcome.unit)}: ${verdictOf(outcome)}`,
			],
		];
	});
	return markdownTable(['what', 'ours', 'the other way', '× n8n itself', 'goal'], rows);
}

/** The rows as a Markdown table; medians, with the least and the most of the rounds. */
export function tableOf(outcomes: readonly Outcome[]): string {
	const rows = outcomes.map((outcome) => [
		outcome.what,
		figures(outcome.ours, outcome.unit),
		outcome.peer?.name ?? '',
		outcome.peer ? figures(outcome.peer.figures, outcome.unit) : '',
		ratioOf(outcome)?.toFixed(2) ?? '',
		outcome.floor ? figures(outcome.floor, outcome.unit) : '',
		floorRatioOf(outcome)?.toFixed(2) ?? '',
		outcome.goal ? goalText(outcome.goal, outcome.unit) : '',
		verdictOf(outcome),
	]);
	const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
	return [line(COLUMNS), line(COLUMNS.map(() => '---')), ...rows.map(line)].join('\n');
}

function figures({ median, least, most, rounds }: Sample, unit: string): string {
	const spread = rounds > 1 && least !== most ? ` (${number(least)} – ${number(most)})` : '';
	return `${number(median)} ${unit}${spread}`;
}

function goalText({ of, bound, value }: Goal, unit: string): string {
	const sign = bound === 'atMost' ? '≤' : '≥';
	if (of === 'ours') return `${sign} ${number(value)} ${unit}`;
	return `${sign} ${value}${of === 'floor' ? ' × n8n itself' : ''}`;
}

function verdictOf(outcome: Outcome): string {
	const met = isMet(outcome);
	return met === undefined ? '' : met ? 'met' : 'missed';
}

function number(value: number): string {
	return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}

/** What one group of rows gave, under its name and heading. */
export type Measured = GroupOutcome & { name: string; title: string };

/** Keeps the figures of a group in the documentation: its table. */
export async function keepFigures(machine: Machine, group: Measured): Promise<void> {
	const file = path.join(ROOT, 'docs', 'measurements.md');
	const options = { ...(await resolveConfig(file)), filepath: file };
	writeSection(`Bench: ${group.title}`, await format(section(machine, group), options));
}

function section(machine: Machine, { name, outcomes }: Measured): string {
	return [
		`Made by \`npm run bench -- ${name}\` on ${machine.at}, n8n ${machine.n8n}, ${machine.cores} cores of ${machine.cpu}, load ${machine.load}.`,
		briefTableOf(outcomes),
	].join('\n\n');
}
