import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { applyPalette, GIFEncoder, quantize } from 'gifenc';
import type { Page } from 'playwright-core';
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
		let before: Buffer | undefined;
		for (const { seconds, png } of this.shots) {
			const { width, height, data } = png;
			const isChanged = changes(data, before);
			const palette = quantize(pixels(data, isChanged), COLORS);
			const colors = applyPalette(data, palette);
			const index = colors.map((color, pixel) => (isChanged[pixel] ? color + 1 : AS_BEFORE));
			gif.writeFrame(index, width, height, {
				palette: [[0, 0, 0], ...palette],
				delay: seconds * 1_000,
				transparent: true,
				transparentIndex: AS_BEFORE,
				dispose: 1,
			});
			before = data;
		}
		gif.finish();
		const file = fileOf(`${name}.gif`);
		await mkdir(path.dirname(file), { recursive: true });
		await writeFile(file, gif.bytes());
		const length = this.shots.reduce((sum, { seconds }) => sum + seconds, 0);
		return { bytes: gif.bytes().length, seconds: length };
	}
}

/** 1 for each pixel that is another one than before. */
function changes(data: Buffer, before: Buffer | undefined): Uint8Array {
	const now = new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
	if (before === undefined) return new Uint8Array(now.length).fill(1);
	const then = new Uint32Array(before.buffer, before.byteOffset, before.length / 4);
	return Uint8Array.from(now, (pixel, at) => (pixel === then[at] ? 0 : 1));
}

/** The changed pixels; the first one, too, so that there is always a color. */
function pixels(data: Buffer, isChanged: Uint8Array): Uint8Array {
	const wanted = [...isChanged.keys()].filter((pixel) => pixel === 0 || isChanged[pixel]);
	const chosen = new Uint8Array(wanted.length * 4);
	wanted.forEach((pixel, at) => chosen.set(data.subarray(pixel * 4, pixel * 4 + 4), at * 4));
	return chosen;
}
