import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { notesOf, release } from './changelog';

const INTRODUCTION = '# Changelog\n\nAll notable changes.\n\n';
const CHANGES = '### Added\n\n- A thing, see [its guide](guide.md).';

describe('a release in the changelog', () => {
	test('gets what was unreleased, above the older ones', () => {
		const text = `${INTRODUCTION}## [Unreleased]\n\n${CHANGES}\n\n## [0.1.0] - 2026-01-02\n\nFirst.\n`;

		const released = release(text, '0.2.0', '2026-03-04');

		expect(released).toBe(
			`${INTRODUCTION}## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n${CHANGES}\n\n## [0.1.0] - 2026-01-02\n\nFirst.\n`,
		);
		expect(notesOf(released, '0.2.0')).toBe(CHANGES);
		expect(notesOf(released, '0.1.0')).toBe('First.');
	});

	test('may be the first', () => {
		const released = release(
			`${INTRODUCTION}## [Unreleased]\n\n${CHANGES}\n`,
			'0.1.0',
			'2026-01-02',
		);
		expect(notesOf(released, '0.1.0')).toBe(CHANGES);
		expect(() => release(released, '0.1.1', '2026-01-03')).toThrow('nothing under');
	});

	test('is not made of headings alone', () => {
		const headings = `${INTRODUCTION}## [Unreleased]\n\n### Added\n\n### Fixed\n`;
		expect(() => release(headings, '0.2.0', '2026-03-04')).toThrow('nothing under');
		const released = headings.replace('Unreleased', '0.2.0');
		expect(() => notesOf(released, '0.2.0')).toThrow('says nothing of');
	});

	test('is not found under another number', () => {
		const text = `${INTRODUCTION}## [0.10.0] - 2026-01-02\n\nFirst.\n`;
		expect(() => notesOf(text, '0.1.0')).toThrow('no section');
		expect(() => notesOf(text, '10.0')).toThrow('no section');
	});

	test('can be made of the changelog of this project', () => {
		const text = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
		expect(text).toContain('\n## [Unreleased]\n');
	});
});
