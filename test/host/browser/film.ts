import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { GIFEncoder } from 'gifenc';
import type { Page } from 'playwright-core';
import memoize from 'lodash/memoize';
import { PNG } from 'pngjs';
import { atRest, fileOf } from './pictures';

/** A GIF has 256 colors; one of them is "as before". */
const COLORS = 255;
const AS_BEFORE = 0;

interface Shot {
	seconds: number;
	png: PNG;
}

/** A moving picture of what a page shows, shot by shot. */
export class Film {
	private readonly shots: Shot[] = [];

	/** Adds what a page shows now, for so many seconds. */
	async shoot(page: Page, seconds: number): Promise<void> {
		await atRest(page);
		const image = await page.screenshot({ animations: 'disabled' });
		this.shots.push({ seconds, png: PNG.sync.read(image) });
	}

	/** Saves it among the pictures, and returns how large it is and how long it runs. */
	async save(name: string): Promise<{ bytes: number; seconds: number }> {
		const gif = GIFEncoder();
		let before: Uint32Array | undefined;
		for (const { seconds, png } of this.shots) {
			const { width, height, data } = png;
			const pixels = new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
			const changed = pixels.filter((color, at) => color !== before?.[at]);
			const palette = commonColors(changed);
			const indexOf = memoize((color: number) => 1 + nearest(color, palette));
			const index = Uint8Array.from(pixels, (color, at) =>
				color === before?.[at] ? AS_BEFORE : indexOf(color),
			);
			gif.writeFrame(index, width, height, {
				palette: [[0, 0, 0], ...palette.map(partsOf)],
				delay: seconds * 1_000,
				transparent: true,
				transparentIndex: AS_BEFORE,
				dispose: 1,
			});
			before = pixels;
		}
		gif.finish();
		const file = fileOf(`${name}.gif`);
		await mkdir(path.dirname(file), { recursive: true });
		await writeFile(file, gif.bytes());
		const length = this.shots.reduce((sum, { seconds }) => sum + seconds, 0);
		return { bytes: gif.bytes().length, seconds: length };
	}
}

/** The colors that stand most often; a page has few that matter. */
function commonColors(pixels: Uint32Array): number[] {
	const counts = new Map<number, number>();
	for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
	const common = [...counts].sort(([, one], [, other]) => other - one);
	return common.slice(0, COLORS).map(([color]) => color);
}

/** Red, green and blue of a pixel as it lies in memory. */
function partsOf(color: number): number[] {
	return [color & 255, (color >> 8) & 255, (color >> 16) & 255];
}

function nearest(color: number, palette: number[]): number {
	const parts = partsOf(color);
	const distances = palette.map((other) =>
		partsOf(other).reduce((sum, part, at) => sum + (part - (parts[at] ?? 0)) ** 2, 0),
	);
	return distances.indexOf(Math.min(...distances));
}
