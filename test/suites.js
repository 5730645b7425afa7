const { run } = require('jest');

const inTest = (path) => `<rootDir>/test/${path}`;

/** A real n8n runs in each file. */
const ofN8n = { globalSetup: inTest('helpers/n8n/suite.ts') };

/** The folders and further files of each suite, and its options for jest. CONTRIBUTING.md describes the suites. */
const SUITES = {
	test: {
		folders: ['unit', 'engine', 'tools'],
		// Of real time, also on a busy machine.
		testTimeout: 60_000,
		maxWorkers: 2,
	},
	thorough: {
		folders: ['thorough'],
		files: [
			'unit/{api/pagination,domain/document,domain/money,shared/memory}.test.ts',
			'engine/**/{model,*.model,claim,whatIsSent,whatPeopleType,expressions,hostileAnswers}.test.ts',
		],
		testTimeout: 900_000,
		globalSetup: inTest('helpers/thorough/setup.ts'),
	},
	e2e: {
		folders: ['e2e'],
		testTimeout: 300_000,
		// Each file has its n8n or its account to itself, and mostly waits.
		maxWorkers: 2,
		globalSetup: inTest('helpers/e2e/sharedN8n.ts'),
		globalTeardown: inTest('helpers/e2e/closeSharedN8n.ts'),
	},
	queue: { folders: ['queue'], ...ofN8n, testTimeout: 180_000 },
	crash: { folders: ['crash'], ...ofN8n, testTimeout: 180_000 },
	// Each file has its n8n to itself.
	installer: { folders: ['installer'], ...ofN8n, testTimeout: 300_000, maxWorkers: 2 },
	browser: { folders: ['browser'], ...ofN8n, testTimeout: 90_000 },
};

/** The suite that this process runs: plain `jest` runs `test`. */
const currentSuite = () => SUITES[process.env.SUITE ?? 'test'];

module.exports = { SUITES, currentSuite, inTest };

// `node test/suites.js queue journey` runs the file `journey` of the queue suite. Jest gets all further arguments.
// `npm run e2e -- queue journey` does the same.
if (require.main === module) {
	const [script, ...options] = process.argv.slice(2);
	process.env.SUITE = options[0] in SUITES ? options.shift() : script;
	void run(options);
}
