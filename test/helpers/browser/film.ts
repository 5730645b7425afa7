import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { applyPalette, GIFEncoder, quantize } from 'gifenc';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { atRest, fileOf, noteSaved } from './pictures';

/** A GIF has 256 colors. One of them means that a pixel is unchanged. */
const COLORS = 255;
const AS_BEFORE = 0;

interface Shot {
	seconds: number;
	png: PNG;
}

export class Film {
	private readonly shots: Shot[] = [];

	async shoot(page: Page, seconds: number): Promise<void> {
		await atRest(page);
		const image = await page.screenshot({ animations: 'disabled', scale: 'css' });
		this.shots.push({ seconds, png: PNG.sync.read(image) });
	}

	async save(name: string): Promise<{ bytes: number; seconds: number }> {
		const gif = GIFEncoder();
		let before: Uint32Array | undefined;
		for (const { seconds, png } of this.shots) {
			const { width, height, data } = png;
			const pixels = new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
			const palette = quantize(data, COLORS);
			const index = applyPalette(data, palette).map((color, at) =>
				pixels[at] === before?.[at] ? AS_BEFORE : color + 1,
			);
			gif.writeFrame(index, width, height, {
				palette: [[0, 0, 0], ...palette],
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
		noteSaved(file);
		const length = this.shots.reduce((sum, { seconds }) => sum + seconds, 0);
		return { bytes: gif.bytes().length, seconds: length };
	}
}
