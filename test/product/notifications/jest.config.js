/** @type {import('jest').Config} */
module.exports = {
	rootDir: '../../..',
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/product/notifications/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.json', diagnostics: false }] },
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.n8n-host/', '<rootDir>/.n8n-data/'],
	// Thousands of notices: two files at once would starve each other.
	maxWorkers: 1,
	testTimeout: 300_000,
};
