const COMBINING_MARKS = /[\u0300-\u036f]/g;

/** Whether two texts are the same characters, however each of them puts accents on its letters. */
export function isSameText(one: string, other: string): boolean {
	return one.normalize('NFC') === other.normalize('NFC');
}

/** A text without case and accents, so that "cafe" is found in "Café da Manhã". */
export function searchKey(text: string): string {
	return text.normalize('NFD').replace(COMBINING_MARKS, '').toLowerCase().trim();
}
