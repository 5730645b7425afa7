/** The CRC of a BR Code is its last field: its tag 63, its length 04 and four hexadecimal digits. */
const BR_CODE = /^(000201.*6304)([0-9a-f]{4})$/is;

/** Whether a bank can read the code: it begins as a BR Code (EMV) and has no character too many, too few or changed. */
export function isPixCode(code: string): boolean {
	const [, checked, crc] = BR_CODE.exec(code) ?? [];
	return checked !== undefined && crc16(checked) === parseInt(crc ?? '', 16);
}

/** CRC-16/CCITT-FALSE, as the specification of the BR Code requires. */
function crc16(text: string): number {
	let crc = 0xffff;
	for (const byte of Buffer.from(text, 'utf8')) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit++) {
			crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
		}
	}
	return crc;
}
