/** @type {import('jest').Config} */
module.exports = {
	rootDir: '../../..',
	roots: ['<rootDir>/test'],
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/host/crash/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.json', diagnostics: false }] },
	// Each file kills and starts an n8n of its own, and two at once would starve each other.
	maxWorkers: 1,
	testTimeout: 60_000,
};
