const { run } = require('jest');

const inTest = (path) => `<rootDir>/test/${path}`;

/** Where the tests of each suite are, and what jest needs to know of them. */
const SUITES = {
	test: {
		folders: ['unit', 'engine', 'tools'],
		testTimeout: 15_000,
		maxWorkers: 2,
	},
	thorough: {
		folders: ['thorough'],
		testTimeout: 300_000,
		globalSetup: inTest('helpers/thorough/build.ts'),
	},
	e2e: {
		folders: ['e2e'],
		testTimeout: 90_000,
		// Each file has its n8n or its account to itself, and most of its time is waiting.
		maxWorkers: 2,
		globalSetup: inTest('helpers/e2e/sharedN8n.ts'),
		globalTeardown: inTest('helpers/e2e/closeSharedN8n.ts'),
	},
	queue: { folders: ['queue'], testTimeout: 180_000 },
	crash: { folders: ['crash'], testTimeout: 180_000 },
	install: { folders: ['install'], testTimeout: 120_000 },
	browser: { folders: ['browser'], testTimeout: 90_000 },
};

/** The suite that runs: `npm test`, unless this file was started with another one. */
const suite = () => SUITES[process.env.SUITE ?? 'test'];

module.exports = { SUITES, suite, inTest };

/** `npm run e2e -- queue orders` runs `orders` of the queue suite: what follows goes to jest. */
function main([script, ...options]) {
	process.env.SUITE = options[0] in SUITES ? options.shift() : script;
	return run(options);
}

if (require.main === module) void main(process.argv.slice(2));
