const PACKAGE = '^nodes/DigitalSales/';
const inside = (...folders) => `${PACKAGE}(${folders.join('|')})/`;
const apiFiles = (...files) => `${PACKAGE}api/(${files.join('|')})\\.ts$`;
const SHIPPED = '^(nodes|credentials)/';

/** The layers of the package, the lowest first. A layer imports only from itself and lower layers. */
const HOUSE = [
	['domain', 'shared'],
	['n8n'],
	['api'],
	['output'],
	['form', 'idempotency', 'notification'],
	['trigger', 'wait'],
	['actions'],
];

/** The layers of the folder api: accounts, then how requests are sent and read, then the requests. */
const API = [
	['account', 'redact', 'schemas/.+'],
	['endpoints', 'retryTable', 'serviceError', 'response', 'rateLimiter', 'pagination'],
	['client'],
	['products', 'catalog', 'transactions', 'readBack', 'credentialTest'],
	['index'],
];

const stacked = (name, floors, pathOf, whole) =>
	floors.map((floor, index) => ({
		name: `${name}-floor-${index + 1}`,
		comment: 'A layer imports only from itself and lower layers.',
		severity: 'error',
		from: { path: pathOf(...floor) },
		to: { path: whole, pathNot: pathOf(...floors.slice(0, index + 1).flat()) },
	}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		{
			name: 'no-cycles',
			comment: 'Two files that import each other cannot be read, tested or moved separately.',
			severity: 'error',
			from: {},
			to: { circular: true },
		},
		{
			name: 'through-the-index',
			comment: 'The index of a folder lists the files that other folders use.',
			severity: 'error',
			from: { path: `${PACKAGE}([^/]+)/` },
			to: { path: `${PACKAGE}[^/]+/.+`, pathNot: `${PACKAGE}($1/|[^/]+/index\\.ts$)` },
		},
		...stacked('house', HOUSE, inside, SHIPPED),
		...stacked('api', API, apiFiles, inside('api')),
		{
			name: 'api-has-four-floors',
			comment: 'No rule would apply to a file without a layer.',
			severity: 'error',
			from: { pathNot: apiFiles(...API.flat()) },
			to: { path: inside('api'), pathNot: apiFiles(...API.flat()) },
		},
		{
			name: 'domain-is-pure',
			comment: 'Rules of the domain need neither n8n nor the service.',
			severity: 'error',
			from: { path: inside('domain') },
			to: { pathNot: `${inside('domain')}|^vendor/|^node_modules/(?:lodash|zod)/` },
		},
		{
			name: 'shared-knows-nothing',
			comment: 'Mechanisms do not depend on a subject.',
			severity: 'error',
			from: { path: inside('shared') },
			to: { path: SHIPPED, pathNot: inside('shared') },
		},
		{
			name: 'n8n-stands-on-shared',
			comment: 'Code about how n8n works does not depend on sales.',
			severity: 'error',
			from: { path: inside('n8n') },
			to: { path: SHIPPED, pathNot: inside('n8n', 'shared') },
		},
		{
			name: 'ships-no-tests',
			comment: 'The tarball contains neither tests nor the sandbox.',
			severity: 'error',
			from: { path: SHIPPED },
			to: { path: '^(test|examples|dist)/' },
		},
		{
			name: 'sandbox-stands-alone',
			comment: 'A simulation that shared code with the package would share its mistakes.',
			severity: 'error',
			from: { path: '^test/sandbox/' },
			to: { path: '^(nodes|credentials|dist|test/(?!sandbox/))' },
		},
		{
			name: 'resolves',
			comment: 'No other rule finds an import that does not resolve.',
			severity: 'error',
			from: {},
			// Only Node.js can resolve the entry points of these packages.
			to: {
				couldNotResolve: true,
				// The build is there only after `npm run build`.
				pathNot: '/dist/',
			},
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		exclude: {
			path: '^(dist|coverage|reports|\\.n8n-hosts?|\\.n8n-data|\\.stryker-tmp)/',
		},
		// Imports of types count, too.
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
