import { markdownTable } from '../../../support/figures';
import { floorRatioOf, isMet, ratioOf, type Goal, type Outcome } from '../outcome';
import type { Sample } from '../statistics';

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
export function briefTableOf(outcomes: readonly Outcome[]): string {
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
