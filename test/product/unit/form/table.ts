import type { NodeParameterValueType, NodePropertyTypes } from 'n8n-workflow';

/** Values of other fields, by their path: the field counts as chosen where it has one of them. */
export type Condition = Readonly<Record<string, readonly unknown[]>>;

/** One field of a form as it has to be, written by hand. */
export interface Row {
	path: string;
	type: NodePropertyTypes;
	default: NodeParameterValueType | object;
	/** What a person has to learn from its description, hint or, of a notice, its text. */
	says?: string;
	/** Its display name, where more than one field has the path. */
	label?: string;
	/** The values of a list, in its order. */
	choices?: ReadonlyArray<string | number>;
	required?: boolean;
	/** It is shown only where one of these holds ... */
	when?: Condition;
	/** ... and none of these. */
	unless?: Condition;
}

/** The whole form of an operation, of the trigger or of the credential, in the order of the form. */
export interface FormTable {
	name: string;
	/** What chooses the form. */
	chosenBy: Readonly<Record<string, string>>;
	rows: readonly Row[];
}

type More = Omit<Row, 'path' | 'type' | 'default' | 'says'>;

/** A row; without `says` the label explains itself. */
export function row(
	path: string,
	type: NodePropertyTypes,
	initial: Row['default'],
	says?: string,
	more: More = {},
): Row {
	return { path, type, default: initial, ...(says === undefined ? {} : { says }), ...more };
}

/** The two faces of an amount. */
export function money(path: string, label: string, says: string): Row[] {
	const inReais = { 'options.amountUnit': ['reais'] };
	return [
		row(path, 'string', '', says, { label: `${label} in Cents`, unless: inReais }),
		row(path, 'string', '', says, { label: `${label} in Reais`, when: inReais }),
	];
}

export const AMOUNT_UNIT = row('options.amountUnit', 'options', 'cents', 'uses cents', {
	choices: ['cents', 'reais'],
});

export const OUTPUT_UNIT = row('options.outputUnit', 'options', 'cents', 'simplified output', {
	choices: ['cents', 'reais'],
	when: { simplify: [true] },
});

export const SIMPLIFY = row('simplify', 'boolean', true, 'simplified version');

export const QR_CODE = [
	row('options.binaryPropertyName', 'string', 'qrCode', 'output binary field', {
		when: { 'options.qrCodeImage': [true] },
	}),
	row('options.qrCodeImage', 'boolean', true, 'PNG picture'),
];

export const TRIES_OF_READING = [
	row('options.maxTries', 'number', 5, 'Repeating a read changes nothing'),
	row('options.maxWait', 'number', 300, 'How many seconds after the first try'),
];

export const TRIES_OF_CREATING = [
	row('options.maxTries', 'number', 5, 'it is never sent again'),
	row('options.maxWait', 'number', 300, 'nothing is created'),
];

/** The time-out of one request, in seconds. */
export function timeout(seconds: number): Row {
	return row('options.timeout', 'number', seconds, 'How many seconds');
}
