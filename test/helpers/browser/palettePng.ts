import { crc32, deflateSync } from 'node:zlib';
import memoize from 'lodash/memoize';
import { PNG } from 'pngjs';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const MOST_COLORS = 256;
const BITS = 8;
const INDEXED = 3;

/** For a picture of the editor, its most frequent colors need a third of the bytes. The PNG must not be transparent. */
export function reducePng(png: Buffer): Buffer {
	const { width, height, data } = PNG.sync.read(png);
	const colors = Array.from({ length: width * height }, (_, pixel) => data.readUInt32BE(pixel * 4));

	const palette = mostFrequent(colors);
	const channels = palette.map(channelsOf);
	const pixels = Buffer.from(colors.map(memoize((color) => nearest(channels, channelsOf(color)))));

	const size = Buffer.alloc(8);
	size.writeUInt32BE(width, 0);
	size.writeUInt32BE(height, 4);
	// Each row begins with the number of its filter. 0 means no filter.
	const rows = Array.from({ length: height }, (_, row) =>
		Buffer.concat([Buffer.of(0), pixels.subarray(row * width, (row + 1) * width)]),
	);
	return Buffer.concat([
		SIGNATURE,
		chunkOf('IHDR', Buffer.concat([size, Buffer.of(BITS, INDEXED, 0, 0, 0)])),
		chunkOf('PLTE', Buffer.from(channels.flat())),
		chunkOf('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
		chunkOf('IEND', Buffer.alloc(0)),
	]);
}

function mostFrequent(colors: number[]): number[] {
	const counts = new Map<number, number>();
	for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
	const ranked = [...counts].sort(([, one], [, other]) => other - one);
	return ranked.slice(0, MOST_COLORS).map(([color]) => color);
}

type Channels = readonly [red: number, green: number, blue: number];

function channelsOf(color: number): Channels {
	return [color >>> 24, (color >>> 16) & 255, (color >>> 8) & 255];
}

function nearest(palette: Channels[], [red, green, blue]: Channels): number {
	let best = { place: 0, distance: Infinity };
	for (const [place, [otherRed, otherGreen, otherBlue]] of palette.entries()) {
		const distance = (red - otherRed) ** 2 + (green - otherGreen) ** 2 + (blue - otherBlue) ** 2;
		if (distance < best.distance) best = { place, distance };
	}
	return best.place;
}

function chunkOf(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type), data]);
	const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
	length.writeUInt32BE(data.length);
	checksum.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, checksum]);
}
