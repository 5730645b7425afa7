import type { Plot } from '../outcome';

const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = { left: 70, right: 20, top: 50, bottom: 60 };
const COLORS = ['#0b7a5b', '#b3541e', '#3b5bdb'];
const STEPS = 5;

/** Draws lines of figures against a size as an SVG picture; both axes begin at 0. */
export function svgOf({ title, xLabel, yLabel, lines }: Plot): string {
	const points = lines.flatMap((line) => line.points);
	const x = axis(Math.max(...points.map(([value]) => value)), MARGIN.left, WIDTH - MARGIN.right);
	const y = axis(Math.max(...points.map(([, value]) => value)), HEIGHT - MARGIN.bottom, MARGIN.top);
	const [left, right] = [MARGIN.left, WIDTH - MARGIN.right];
	const bottom = HEIGHT - MARGIN.bottom;
	const marks = [
		...y.ticks.flatMap((value) => [
			`<line x1="${left}" x2="${right}" y1="${y.at(value)}" y2="${y.at(value)}" stroke="#ddd"/>`,
			text(left - 8, y.at(value) + 4, 'end', format(value)),
		]),
		...x.ticks.map((value) => text(x.at(value), bottom + 20, 'middle', format(value))),
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

function format(value: number): string {
	return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function escaped(content: string): string {
	return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
