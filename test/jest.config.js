const { currentSuite, inTest } = require('./suites');

const { folders, files = [], ...options } = currentSuite();
const SOURCES = ['credentials', 'nodes', 'vendor', 'examples/source', 'test'];

/** @type {import('jest').Config} */
module.exports = {
	roots: SOURCES.map((folder) => `<rootDir>/${folder}`),
	testMatch: [...folders.map((folder) => `${folder}/**/*.test.ts`), ...files].map(inTest),
	testEnvironment: inTest('helpers/jest/environment.cjs'),
	runtime: inTest('helpers/jest/runtime.cjs'),
	transform: { '^.+\\.ts$': inTest('helpers/jest/transform.cjs') },
	collectCoverageFrom: ['{nodes,credentials}/**/*.ts', '!**/*.d.ts'],
	coverageDirectory: 'coverage',
	coverageReporters: [['text', { skipFull: true }], 'json-summary', 'html'],
	coverageThreshold: { global: { lines: 95, branches: 95 } },
	// Otherwise a spy of one test would decide another, depending on their order.
	restoreMocks: true,
	// Most test files start servers of their own, and two files at once would starve each other.
	maxWorkers: 1,
	...options,
};
