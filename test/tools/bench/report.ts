import { mkdir, writeFile } from 'node:fs/promises';
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
	type Plot,
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

const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = { left: 70, right: 20, top: 50, bottom: 60 };
const COLORS = ['#0b7a5b', '#b3541e', '#3b5bdb'];
const STEPS = 5;

/** Draws lines of figures against a size as an SVG picture; both axes begin at 0. */
function svgOf({ title, xLabel, yLabel, lines }: Plot): string {
	const points = lines.flatMap((line) => line.points);
	const x = axis(Math.max(...points.map(([value]) => value)), MARGIN.left, WIDTH - MARGIN.right);
	const y = axis(Math.max(...points.map(([, value]) => value)), HEIGHT - MARGIN.bottom, MARGIN.top);
	const [left, right] = [MARGIN.left, WIDTH - MARGIN.right];
	const bottom = HEIGHT - MARGIN.bottom;
	const marks = [
		...y.ticks.flatMap((value) => [
			`<line x1="${left}" x2="${right}" y1="${y.at(value)}" y2="${y.at(value)}" stroke="#ddd"/>`,
			text(left - 8, y.at(value) + 4, 'end', withDecimals(value)),
		]),
		...x.ticks.map((value) => text(x.at(value), bottom + 20, 'middle', withDecimals(value))),
		text((left + right) / 2, HEIGHT - 14, 'middle', xLabel),
		text(left - 8, MARGIN.top - 14, 'end', yLabel),
		`<text x="${left}" y="20" font-weight="bold">${escaped(title)}</text>`,
	];
	const drawn = lines.flatMap((line, place) => {
		const color = COLORS[place % COLORS.length];
		const path = line.points.map(([px, py]) => `${x.at(px)},${y.at(py)}`);
		return [
			`<polyline points="${path.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
			...line.points.map(
				([px, py]) => `<circle cx="${x.at(px)}" cy="${y.at(py)}" r="3.5" fill="${color}"/>`,
			),
			`<rect x="${left + 14 + place * 190}" y="28" width="12" height="4" fill="${color}"/>`,
			text(left + 32 + place * 190, 34, 'start', line.label),
		];
	});
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12" fill="#222">`,
		`<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
		...marks,
		...drawn,
		'</svg>\n',
	].join('\n');
}

/** From 0 to a round number above the highest value. */
function axis(highest: number, from: number, to: number) {
	const raw = highest / STEPS;
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
	const end = step * Math.ceil(highest / step);
	const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, nth) => nth * step);
	return {
		ticks,
		at: (value: number): number => Math.round((from + (value / end) * (to - from)) * 10) / 10,
	};
}

function text(x: number, y: number, anchor: string, content: string): string {
	return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function withDecimals(value: number): string {
	return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function escaped(content: string): string {
	return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
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
