/** @type {import('jest').Config} */
module.exports = {
	rootDir: '../../..',
	roots: ['<rootDir>/test'],
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/host/browser/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.json', diagnostics: false }] },
	// Each file has an n8n and a browser of its own, and two at once would starve each other.
	maxWorkers: 1,
	testTimeout: 90_000,
};
