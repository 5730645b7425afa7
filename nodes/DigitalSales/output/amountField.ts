import type { IDataObject } from 'n8n-workflow';
import { centsToReais, type AmountUnit } from '../domain/money';

/** An amount in reais under a name that says so, or in integer cents. */
export function amountField(
	name: string,
	cents: number | null | undefined,
	unit: AmountUnit = 'reais',
): IDataObject {
	if (unit === 'cents') return { [name]: cents ?? null };
	return { [`${name}_reais`]: cents == null ? null : centsToReais(cents) };
}
