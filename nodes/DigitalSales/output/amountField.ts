import type { IDataObject } from 'n8n-workflow';
import { centsToReais, type AmountUnit } from '../domain/money';

/** An amount under its name in integer cents; in reais its name says so, lest they be mixed up. */
export function amountField(
	name: string,
	cents: number | null | undefined,
	unit: AmountUnit = 'cents',
): IDataObject {
	if (unit === 'cents') return { [name]: cents ?? null };
	return { [`${name}_reais`]: cents == null ? null : centsToReais(cents) };
}
