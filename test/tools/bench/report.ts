import { cpus, loadavg } from 'node:os';
import { installHost } from '../../helpers/n8n/host';
import { ROOT } from '../../helpers/n8n/paths';
import { capture } from '../../helpers/n8n/processes';
import { markdownTable } from '../../helpers/figures';
import { floorRatioOf, type Goal, isMet, type Outcome, ratioOf, type Sample } from './outcome';

/** The machine and its load. Read it before the measurement, which adds to the load. */
export async function readMachine(): Promise<string> {
	const host = await installHost();
	const n8n = await capture(host.node, [host.n8n, '--version'], ROOT);
	const day = new Date().toISOString().slice(0, 10);
	const load = Math.round(10 * (loadavg()[0] ?? 0)) / 10;
	return `${day}, n8n ${n8n}, ${cpus().length} cores of ${cpus()[0]?.model.trim()}, load ${load}`;
}

/** The rows as a Markdown table: medians, and with `isWithSpread` also minimum and maximum. */
export function tableOf(outcomes: readonly Outcome[], isWithSpread = false): string {
	const figures = ({ median, least, most }: Sample, unit: string): string => {
		const spread = isWithSpread && least !== most ? ` (${number(least)} – ${number(most)})` : '';
		return `${number(median)} ${unit}${spread}`;
	};
	const rows = outcomes.map((outcome) => {
		const { what, unit, ours, peer, goal } = outcome;
		const ratio = ratioOf(outcome);
		return [
			what,
			figures(ours, unit),
			ratio === undefined ? '' : `${ratio.toFixed(2)} × ${peer?.name}`,
			floorRatioOf(outcome)?.toFixed(2) ?? '',
			`${goalText(goal, unit)}: ${isMet(outcome) ? 'met' : 'missed'}`,
		];
	});
	return markdownTable(['what', 'ours', 'the other way', '× n8n itself', 'goal'], rows);
}

function goalText({ of, bound, value }: Goal, unit: string): string {
	const sign = bound === 'atMost' ? '≤' : '≥';
	if (of === 'ours') return `${sign} ${number(value)} ${unit}`;
	return `${sign} ${value}${of === 'floor' ? ' × n8n itself' : ''}`;
}

function number(value: number): string {
	return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}
