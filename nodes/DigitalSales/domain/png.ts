const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DATA_PREFIX = /^data:image\/png;base64,/i;
/** Length, type and checksum of a chunk, without its data. */
const CHUNK_FRAME = 12;

/** The PNG in a base64 text, with or without a `data:` prefix; undefined if it is damaged. */
export function readPngText(text: string): Uint8Array | undefined {
	const base64 = text.trim().replace(DATA_PREFIX, '').replace(/\s+/g, '');
	if (!BASE64.test(base64)) return undefined;
	const bytes = Buffer.from(base64, 'base64');
	return isPng(bytes) ? bytes : undefined;
}

/**
 * Whether the bytes are a PNG whose chunks are all there and undamaged.
 * @internal Exported for its tests.
 */
export function isPng(bytes: Uint8Array): boolean {
	if (!SIGNATURE.every((byte, index) => bytes[index] === byte)) return false;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const types: string[] = [];
	let at = SIGNATURE.length;
	while (at + CHUNK_FRAME <= bytes.length) {
		const dataLength = view.getUint32(at);
		const end = at + CHUNK_FRAME + dataLength;
		if (end > bytes.length) return false;
		if (crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return false;
		types.push(String.fromCharCode(...bytes.subarray(at + 4, at + 8)));
		at = end;
		if (types.at(-1) === 'IEND') break;
	}
	return (
		at === bytes.length && types[0] === 'IHDR' && types.includes('IDAT') && types.at(-1) === 'IEND'
	);
}

function crc32(bytes: Uint8Array): number {
	let crc = 0xffffffff;
	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	}
	return (crc ^ 0xffffffff) >>> 0;
}
