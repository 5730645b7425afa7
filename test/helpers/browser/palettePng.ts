import { crc32, deflateSync } from 'node:zlib';
import { applyPalette, quantize } from 'gifenc';
import { PNG } from 'pngjs';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLORS = 256;
const BITS = 8;
const INDEXED = 3;

/** For a picture of the editor, 256 colors need a third of the bytes. The PNG must not be transparent. */
export function reducePng(png: Buffer): Buffer {
	const { width, height, data } = PNG.sync.read(png);
	const palette = quantize(data, COLORS);
	const pixels = Buffer.from(applyPalette(data, palette));
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
		chunkOf('PLTE', Buffer.from(palette.flat())),
		chunkOf('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
		chunkOf('IEND', Buffer.alloc(0)),
	]);
}

function chunkOf(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type), data]);
	const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
	length.writeUInt32BE(data.length);
	checksum.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, checksum]);
}
