import { formatReais, isExactAmount } from './money';

/** A copy-and-paste PIX code (EMV BR Code). */
export interface PixCode {
	checksumHolds: boolean;
	/** The amount in integer cents; undefined if the code leaves it open. */
	cents?: number;
}

/** Far more than the longest code in use. */
const LONGEST_CODE = 2_000;
const FORMAT = '00';
const AMOUNT = '54';
const CHECKSUM = '63';
const CHECKSUM_DIGITS = 4;

/**
 * Reads a copy-and-paste PIX code; undefined if the text is none.
 * @internal Exported for its tests.
 */
export function readPixCode(text: string): PixCode | undefined {
	const code = text.trim();
	if (code.length > LONGEST_CODE) return undefined;
	const bytes = Buffer.from(code);
	// Whether a length counts characters or bytes shows only in names with accents.
	const fields = fieldsOf(code) ?? fieldsOf(bytes.toString('latin1'));
	const [first, last] = [fields?.at(0), fields?.at(-1)];
	if (!fields || first?.id !== FORMAT || last?.id !== CHECKSUM) return undefined;
	const expected = crc16(bytes.subarray(0, bytes.length - CHECKSUM_DIGITS));
	return {
		checksumHolds: last.value.toUpperCase() === expected,
		cents: centsOf(fields.find(({ id }) => id === AMOUNT)?.value),
	};
}

/**
 * What is wrong with the PIX code of a transaction of so many cents, in words that continue
 * "The PIX code ..."; undefined if nothing is.
 */
export function pixCodeProblem(text: string, cents?: number | null): string | undefined {
	const code = readPixCode(text);
	if (!code) return 'is not a valid PIX code';
	if (!code.checksumHolds) return 'is damaged: its checksum is wrong';
	if (cents == null || code.cents === undefined || code.cents === cents) return undefined;
	return `is for ${formatReais(code.cents)}, but the transaction is for ${formatReais(cents)}`;
}

interface Field {
	id: string;
	value: string;
}

/** The fields of the outermost level: two digits each of identifier and length, then the value. */
function fieldsOf(text: string): Field[] | undefined {
	const fields: Field[] = [];
	for (let at = 0; at < text.length; ) {
		const head = text.slice(at, at + 4);
		if (!/^\d{4}$/.test(head)) return undefined;
		const id = head.slice(0, 2);
		const end = at + 4 + Number(head.slice(2));
		if (end > text.length) return undefined;
		fields.push({ id, value: text.slice(at + 4, end) });
		at = end;
	}
	return fields;
}

/** A code for any amount leaves the amount out or writes zero. */
function centsOf(amount = ''): number | undefined {
	const [, reais = '', decimals = ''] = /^(\d+)(?:\.(\d{0,2})0*)?$/.exec(amount) ?? [];
	const cents = Number(reais + decimals.padEnd(2, '0'));
	return isExactAmount(cents) && cents > 0 ? cents : undefined;
}

/** CRC-16/CCITT-FALSE in four upper-case hexadecimal digits, as the BR Code requires. */
function crc16(bytes: Uint8Array): string {
	let crc = 0xffff;
	for (const byte of bytes) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit++) {
			crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
		}
	}
	return crc.toString(16).toUpperCase().padStart(CHECKSUM_DIGITS, '0');
}
