/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/{unit,engine,package}/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.json', diagnostics: false }] },
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.n8n-host/', '<rootDir>/.n8n-data/'],
	collectCoverageFrom: ['{nodes,credentials}/**/*.ts', '!**/*.d.ts'],
	coverageDirectory: 'coverage',
	maxWorkers: 2,
	testTimeout: 15_000,
};
