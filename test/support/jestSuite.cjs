const path = require('node:path');

/**
 * The tests of a folder as a suite of their own, one file at a time: each file has servers of its own,
 * and two at once would starve each other.
 *
 * @returns {import('jest').Config}
 */
module.exports = (folder, testTimeout) => ({
	rootDir: path.join(__dirname, '../..'),
	roots: ['<rootDir>/test'],
	testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
	runtime: '<rootDir>/test/support/jest/runtime.cjs',
	testMatch: [path.join(folder, '**/*.test.ts')],
	transform: { '^.+\\.ts$': '<rootDir>/test/support/jest/transform.cjs' },
	maxWorkers: 1,
	testTimeout,
});
