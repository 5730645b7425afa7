const PACKAGE = '^nodes/DigitalSales/';
const inside = (...folders) => `${PACKAGE}(${folders.join('|')})/`;
const apiFiles = (...files) => `${PACKAGE}api/(${files.join('|')})\\.ts$`;
const SHIPPED = '^(nodes|credentials)/';

/** The floors of the house, the lowest first: each knows itself and those below. */
const HOUSE = [
	['domain', 'shared'],
	['n8n'],
	['api'],
	['output'],
	['form', 'idempotency', 'notification'],
	['trigger', 'wait'],
	['actions'],
];

/** What is sent stands on how it is sent, paced and read, and that on what an account is. */
const API = [
	['account', 'redact', 'schemas/.+'],
	['endpoints', 'retryTable', 'serviceError', 'response', 'rateLimiter', 'pagination'],
	['client'],
	['products', 'offers', 'catalog', 'transactions', 'credentialTest'],
];

const stacked = (name, floors, pathOf, whole) =>
	floors.map((floor, index) => ({
		name: `${name}-floor-${index + 1}`,
		comment: 'A floor knows itself and those below it.',
		severity: 'error',
		from: { path: pathOf(...floor) },
		to: { path: whole, pathNot: pathOf(...floors.slice(0, index + 1).flat()) },
	}));

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
		...stacked('house', HOUSE, inside, SHIPPED),
		...stacked('api', API, apiFiles, inside('api')),
		{
			name: 'api-has-four-floors',
			comment: 'A file without a floor would be held to no order.',
			severity: 'error',
			from: { pathNot: apiFiles(...API.flat()) },
			to: { path: inside('api'), pathNot: apiFiles(...API.flat()) },
		},
		{
			name: 'domain-is-pure',
			comment: 'What holds without n8n and without the service is kept free of both.',
			severity: 'error',
			from: { path: inside('domain') },
			to: { pathNot: `${inside('domain')}|^vendor/` },
		},
		{
			name: 'shared-knows-nothing',
			comment: 'Mechanisms serve any subject.',
			severity: 'error',
			from: { path: inside('shared') },
			to: { path: SHIPPED, pathNot: inside('shared') },
		},
		{
			name: 'n8n-stands-on-shared',
			comment: 'What rests on how n8n works knows nothing of sales.',
			severity: 'error',
			from: { path: inside('n8n') },
			to: { path: SHIPPED, pathNot: inside('n8n', 'shared') },
		},
		{
			name: 'ships-no-tests',
			comment: 'The tarball holds neither tests nor the sandbox.',
			severity: 'error',
			from: { path: SHIPPED },
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
			path: '^(dist|coverage|reports|\\.n8n-hosts?|\\.n8n-data|\\.stryker-tmp)/',
		},
		// Types count too: a layer that speaks another's language knows it.
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
