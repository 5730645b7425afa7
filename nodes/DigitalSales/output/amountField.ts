import type { IDataObject } from 'n8n-workflow';
import { centsToReais, type AmountUnit } from '../domain/money';

/** An amount in integer cents, or in reais under a name that says so. */
export function amountField(
	name: string,
	cents: number | null | undefined,
	unit: AmountUnit = 'cents',
): IDataObject {
	if (unit === 'cents') return { [name]: cents ?? null };
	return { [`${name}_reais`]: cents == null ? null : centsToReais(cents) };
}
