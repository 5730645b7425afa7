/** A line of a plot: its name and a value for each place on the x axis. */
export interface Line {
	name: string;
	values: number[];
}

const WIDTH = 640;
const HEIGHT = 320;
const [LEFT, RIGHT, TOP, BOTTOM] = [50, 620, 70, 270];
const STYLE =
	'text{fill:#222}.grid{stroke:#ddd}.a{color:#0b7a5b}.b{color:#b3541e}.c{color:#3b5bdb}.d{color:#8a2b8f}' +
	'@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.a{color:#3fc79a}.b{color:#f0955c}.c{color:#8fa5ff}.d{color:#e08be5}}';

/** Draws shares from 0 to 1 as an SVG picture that can be read on light and on dark pages. */
export function svgOf(title: string, places: readonly string[], lines: readonly Line[]): string {
	const x = (place: number): number => LEFT + ((RIGHT - LEFT) * (place + 0.5)) / places.length;
	const y = (value: number): number => Math.round(BOTTOM - value * (BOTTOM - TOP));
	const text = (at: [number, number], content: string, anchor = 'middle'): string =>
		`<text x="${at[0]}" y="${at[1]}" text-anchor="${anchor}">${content}</text>`;
	const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
		`<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${y(value)}" y2="${y(value)}"/>`,
		text([LEFT - 8, y(value) + 4], `${value * 100} %`, 'end'),
	]);
	const drawn = lines.map(({ name, values }, nth) => {
		const points = values.map((value, place) => `${x(place)},${y(value)}`).join(' ');
		const legend = LEFT + nth * 145;
		return `<g class="${'abcd'.charAt(nth)}"><polyline points="${points}" fill="none" stroke="currentColor" stroke-width="2"/><rect x="${legend}" y="38" width="12" height="4" fill="currentColor"/>${text([legend + 18, 44], name, 'start')}</g>`;
	});
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12">`,
		`<style>${STYLE}</style>`,
		text([LEFT, 20], title, 'start'),
		...grid,
		...places.map((place, nth) => text([x(nth), BOTTOM + 20], place)),
		text([(LEFT + RIGHT) / 2, HEIGHT - 10], 'workers'),
		...drawn,
		'</svg>\n',
	].join('\n');
}
