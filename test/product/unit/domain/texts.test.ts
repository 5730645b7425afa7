import { isSameText, searchKey } from '../../../../nodes/DigitalSales/domain/text';

describe('Searching in a text', () => {
	test.each([
		['Café da Manhã', 'cafe da manha'],
		['  CURSO ', 'curso'],
		['ÇÃO', 'cao'],
		['1º', '1º'],
	])('%p is found as %p', (text, key) => {
		expect(searchKey(text)).toBe(key);
	});
});

test('Texts are the same, however their accents are stored', () => {
	expect(isSameText('em análise'.normalize('NFD'), 'em análise'.normalize('NFC'))).toBe(true);
	expect(isSameText('em análise', 'em analise')).toBe(false);
	expect(isSameText('Em análise', 'em análise')).toBe(false);
});
