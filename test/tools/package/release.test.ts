import { identityProblems, notesOf, publishingCommands, release, releaseProblems } from './release';

const INTRODUCTION = '# Changelog\n\nAll notable changes.\n\n';
const CHANGES = '### Added\n\n- A thing, see [its guide](guide.md).';

describe('a release in the changelog', () => {
	test('contains the unreleased changes, above older releases', () => {
		const text = `${INTRODUCTION}## [Unreleased]\n\n${CHANGES}\n\n## [0.1.0] - 2026-01-02\n\nFirst.\n`;

		const released = release(text, '0.2.0', '2026-03-04');

		expect(released).toBe(
			`${INTRODUCTION}## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n${CHANGES}\n\n## [0.1.0] - 2026-01-02\n\nFirst.\n`,
		);
		expect(notesOf(released, '0.2.0')).toBe(CHANGES);
		expect(notesOf(released, '0.1.0')).toBe('First.');
	});

	test('can be the first', () => {
		const released = release(
			`${INTRODUCTION}## [Unreleased]\n\n${CHANGES}\n`,
			'0.1.0',
			'2026-01-02',
		);
		expect(notesOf(released, '0.1.0')).toBe(CHANGES);
		expect(() => release(released, '0.1.1', '2026-01-03')).toThrow('nothing under');
	});

	test('cannot consist of headings only', () => {
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
});

describe('the publisher in package.json', () => {
	const homepage = 'https://github.com/loja-da-maria/n8n-pix';
	const email = 'maria@loja-da-maria.test';
	const problemsOf = (given: Partial<Record<'homepage' | 'name' | 'email' | 'url', string>>) => {
		const identity = { homepage, name: 'Maria da Silva', email, ...given };
		return identityProblems({
			homepage: identity.homepage,
			author: { name: identity.name, email: identity.email },
			repository: { url: identity.url ?? `git+${identity.homepage}.git` },
		});
	};

	test.each([{ name: 'Zé "D\'Ávila" & Cia' }, { email: 'ze@lojaexample.com' }])(
		'is accepted with %j',
		(given) => {
			expect(problemsOf(given)).toEqual([]);
		},
	);

	test.each([
		[
			'has a homepage of no repository',
			{ homepage: 'https://github.com/loja' },
			'has to be https:',
		],
		['contains a token', { homepage: 'https://me:secret@github.com/a/b' }, 'has to be https:'],
		['has a homepage that ends in .git', { homepage: `${homepage}.git` }, 'has to be https:'],
		['has a placeholder for a homepage', { homepage: 'https://example.com/a' }, 'is a placeholder'],
		['has a placeholder for a name', { name: 'Example Author' }, 'author.name is a placeholder'],
		[
			'has another repository',
			{ url: 'git+https://github.com/a/b.git' },
			'repository.url has to be',
		],
	])('is refused if it %s', (_what, given, problem) => {
		expect(problemsOf(given)).toEqual([expect.stringContaining(problem)]);
	});

	test('is checked with the tag and the changelog before anything is published', () => {
		const identity = { homepage, author: { name: 'Maria', email }, repository: { url: '' } };
		const problems = releaseProblems('v1.0.0', { ...identity, version: '1.0.1' }, INTRODUCTION);
		expect(problems).toEqual([
			'The tag is "v1.0.0", the version "1.0.1".',
			expect.stringContaining('no section "## [1.0.1]"'),
			expect.stringContaining('repository.url'),
		]);
	});
});

test.each([
	'name: Check\n        run: npm test',
	'run: |\n          npm test',
	'run: a\n        if: b',
])(
	'the publishing workflow has no step that its rehearsal would leave out or change: %j',
	(step) => {
		const workflow = `jobs:\n  publish:\n    steps:\n      - run: npm ci\n      - ${step}\n`;
		expect(() => publishingCommands(workflow)).toThrow('cannot be rehearsed');
	},
);
