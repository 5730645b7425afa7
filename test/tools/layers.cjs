const PACKAGE = '^nodes/DigitalSales/';
const inside = (...folders) => `${PACKAGE}(${folders.join('|')})/`;

/** A layer, the folders of the package that it may know besides itself, and why no others. */
const layer = (name, folders, knows, comment) => ({
	name,
	comment,
	severity: 'error',
	from: { path: inside(...folders) },
	to: { path: '^(nodes|credentials)/', pathNot: inside(...folders, ...knows) },
});

/** The floors of api/, the lowest first: each file knows its own floor and those below. */
const API_FLOORS = [
	['account', 'redact', 'schemas/.+'],
	['outcome', 'response', 'rateLimiter', 'pagination'],
	['client'],
	['products', 'catalog', 'transactions', 'credentialTest'],
];
const apiFiles = (floors) => `${PACKAGE}api/(${floors.flat().join('|')})\\.ts$`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		{
			name: 'no-cycles',
			comment: 'Two files that need each other cannot be read, tested or moved one at a time.',
			severity: 'error',
			from: {},
			to: { circular: true },
		},
		layer('domain-knows-nothing', ['domain'], [], 'Rules of money and documents are pure.'),
		{
			name: 'domain-is-pure',
			comment: 'What holds without n8n and without the service is kept free of both.',
			severity: 'error',
			from: { path: inside('domain') },
			to: { dependencyTypesNot: ['local'] },
		},
		layer('shared-knows-nothing', ['shared'], [], 'Mechanisms serve any subject.'),
		layer(
			'api-knows-no-forms',
			['api'],
			['domain', 'shared'],
			'The service is the same for any form.',
		),
		...API_FLOORS.map((floor, index) => ({
			name: `api-floor-${index + 1}`,
			comment:
				'What is sent stands on how it is sent, paced and read, and that on what an account is.',
			severity: 'error',
			from: { path: apiFiles([floor]) },
			to: { path: inside('api'), pathNot: apiFiles(API_FLOORS.slice(0, index + 1)) },
		})),
		{
			name: 'api-has-four-floors',
			comment: 'A file without a floor would be held to no order.',
			severity: 'error',
			from: { pathNot: apiFiles(API_FLOORS) },
			to: { path: inside('api'), pathNot: apiFiles(API_FLOORS) },
		},
		layer(
			'output-knows-api',
			['output'],
			['api', 'domain', 'shared'],
			'What n8n is given is made of what the service said.',
		),
		layer(
			'pieces-know-no-users',
			['form', 'listSearch', 'notice', 'once'],
			['output', 'api', 'domain', 'shared'],
			'What serves several operations and the trigger knows none of them.',
		),
		layer(
			'trigger-and-wait-know-no-actions',
			['trigger', 'wait'],
			['form', 'listSearch', 'notice', 'once', 'output', 'api', 'domain', 'shared'],
			'An operation may wait or name the trigger, not the other way round.',
		),
		layer(
			'actions-know-no-nodes',
			['actions'],
			[
				'trigger',
				'wait',
				'form',
				'listSearch',
				'notice',
				'once',
				'output',
				'api',
				'domain',
				'shared',
			],
			'The node files are made from the registry, not the other way round.',
		),
		{
			name: 'ships-no-tests',
			comment: 'The tarball holds neither tests nor the sandbox.',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: { path: '^(test|examples|dist)/' },
		},
		{
			name: 'sandbox-stands-alone',
			comment: 'A stand-in that shared code with the package would share its mistakes.',
			severity: 'error',
			from: { path: '^test/sandbox/' },
			to: { path: '^(nodes|credentials|dist|test/(?!sandbox/))' },
		},
		{
			name: 'resolves',
			comment: 'A path that leads nowhere is seen by no other rule.',
			severity: 'error',
			from: {},
			// These packages say where they begin in a way that only Node.js understands.
			to: {
				couldNotResolve: true,
				pathNot: '^(\\./dist/|@stryker-mutator/core$|@modelcontextprotocol/sdk/)',
			},
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		exclude: {
			path: '^(dist|coverage|reports|\\.n8n-hosts?|\\.registry-host|\\.n8n-data|\\.stryker-tmp)/',
		},
		// Types count too: a layer that speaks another's language knows it.
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
