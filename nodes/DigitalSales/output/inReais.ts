import { centsToReais } from '../domain/money';

/** An amount of the service in reais; null if it states none. */
export function inReais(cents: number | null | undefined): number | null {
	return cents == null ? null : centsToReais(cents);
}
