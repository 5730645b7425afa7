/** @type {import('jest').Config} */
module.exports = {
	rootDir: '../../..',
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/product/faults/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.json', diagnostics: false }] },
	modulePathIgnorePatterns: ['<rootDir>/.n8n-host/', '<rootDir>/.n8n-data/'],
	reporters: [['default', { summaryThreshold: 0 }]],
	maxWorkers: 1,
	testTimeout: 300_000,
};
