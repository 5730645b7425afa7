import { release } from './changelog';
import { identityProblems } from './identity';

const RIGHT = {
	homepage: 'https://github.com/loja/n8n-pix',
	author: 'Zé "D\'Ávila" & Cia',
	email: 'ze@loja.com.br',
};

test('an identity with quotes and accents is right', () => {
	expect(identityProblems(RIGHT)).toEqual([]);
});

test.each([
	['names no repository', { homepage: 'https://github.com/loja' }],
	['holds a token', { homepage: 'https://user:secret@github.com/loja/n8n-pix' }],
	['holds a quote', { homepage: 'https://github.com/loja/n8n-pix"' }],
	['leads into a repository', { homepage: 'https://github.com/loja/n8n-pix/tree/main' }],
	['is in brackets', { email: '<ze@loja.com.br>' }],
])('an identity is refused that %s', (_what, wrong) => {
	expect(identityProblems({ ...RIGHT, ...wrong })).toHaveLength(1);
});

test('an address is no placeholder because its host ends like one', () => {
	expect(identityProblems({ ...RIGHT, email: 'ze@lojaexample.com' })).toEqual([]);
});

test('headings alone are nothing to release', () => {
	const text = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n### Fixed\n';
	expect(() => release(text, '0.2.0', '2026-03-04')).toThrow('nothing under');
});
