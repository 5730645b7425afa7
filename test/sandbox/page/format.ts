import { timestamp } from '../clock';

const REAIS = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });

/** Cents as people read them. */
export function reais(cents: number): string {
	return REAIS.format(cents / 100);
}

/** Epoch ms as the time of day, in the zone of created_at. */
export function clockTime(epochMs: number): string {
	return timestamp(epochMs).slice(11);
}
