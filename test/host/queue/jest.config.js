/** @type {import('jest').Config} */
module.exports = {
	rootDir: '../../..',
	roots: ['<rootDir>/test'],
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/host/queue/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.json', diagnostics: false }] },
	// Each file has a distributed n8n of its own, five processes and two servers.
	maxWorkers: 1,
	testTimeout: 180_000,
};
