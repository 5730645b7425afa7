const COMBINING_MARKS = /[\u0300-\u036f]/g;

/** A text without case and accents, so that "cafe" is found in "Café da Manhã". */
export function searchKey(text: string): string {
	return text.normalize('NFD').replace(COMBINING_MARKS, '').toLowerCase().trim();
}
