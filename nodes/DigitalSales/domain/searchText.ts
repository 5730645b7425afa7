const COMBINING_MARKS = /[\u0300-\u036f]/g;

/** Whether two texts are the same, however Unicode composes their accents. */
export function isSameText(one: string, other: string): boolean {
	return one.normalize('NFC') === other.normalize('NFC');
}

/** A text without case and accents, so that "cafe" is found in "Café da Manhã". */
export function searchKey(text: string): string {
	return text.normalize('NFD').replace(COMBINING_MARKS, '').toLowerCase().trim();
}
