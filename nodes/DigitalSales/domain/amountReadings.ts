/** An amount that a text may mean, as digits: reais, and two or more decimals. */
export interface AmountReading {
	reais: string;
	decimals: string;
}

/**
 * The amounts that an ambiguous text can mean: `1.990` is R$ 1.990,00 or R$ 1,99. Empty for a text
 * that is no amount.
 *
 * @param text at most a line, because it is scanned many times
 */
export function amountReadings(text: string, mayBeCents: boolean): AmountReading[] {
	const bare = withPlainDigits(text).replace(/R\$/gi, '').trim();
	// A blank means nothing if there is a point or a comma.
	const amount = /[.,]/.test(bare) ? bare.replace(/\s/g, '') : bare.replace(/\s+/g, ' ');
	if (!/^\d+(?:[., ]\d+)*$/.test(amount)) return [];
	const marks = amount.replace(/\d/g, '');
	const groups = amount.split(/[., ]/);
	const digits = groups.join('');
	const isGrouped = /^ *$/.test(marks) || isInThousands(amount);
	const isPlain = marks === '' && !/R\$/i.test(text);
	const readings: AmountReading[] = [];
	if (isGrouped && !(mayBeCents && isPlain)) readings.push(reading(digits, ''));
	if (hasDecimals(amount, marks)) {
		readings.push(reading(groups.slice(0, -1).join(''), groups.at(-1) ?? ''));
	}
	// A spreadsheet may print whole cents with decimals.
	const whole = isGrouped ? digits : /^(\d+)[.,]0+$/.exec(amount)?.[1];
	if (mayBeCents && whole !== undefined) {
		const padded = whole.padStart(3, '0');
		readings.push(reading(padded.slice(0, -2), padded.slice(-2)));
	}
	return readings.filter((one, at) => readings.findIndex((other) => isSame(one, other)) === at);
}

function isInThousands(amount: string): boolean {
	return /^[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+)$/.test(amount);
}

/** Whether the last mark can be the decimal sign; a blank only before one or two digits. */
function hasDecimals(amount: string, marks: string): boolean {
	if (marks === ' ') return / \d{1,2}$/.test(amount);
	const last = marks.slice(-1);
	return /[.,]/.test(last) && marks.indexOf(last) === marks.length - 1;
}

function reading(reais: string, decimals: string): AmountReading {
	return {
		reais: reais.replace(/^0+(?=\d)/, ''),
		decimals: decimals.replace(/0+$/, '').padEnd(2, '0'),
	};
}

function isSame(one: AmountReading, other: AmountReading): boolean {
	return one.reais === other.reais && one.decimals === other.decimals;
}

/** A person may type full-width digits. */
function withPlainDigits(text: string): string {
	return text.replace(/[\uff10-\uff19]/g, (digit) => digit.normalize('NFKC'));
}
