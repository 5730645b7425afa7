/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
	runtime: '<rootDir>/test/support/jest/runtime.cjs',
	testMatch: ['<rootDir>/test/{product/{unit,engine},tools/{contact,package}}/**/*.test.ts'],
	transform: { '^.+\\.ts$': '<rootDir>/test/support/jest/transform.cjs' },
	modulePathIgnorePatterns: [
		'dist',
		'.n8n-host',
		'.n8n-hosts',
		'.registry-host',
		'.n8n-data',
		'.stryker-tmp',
	].map((folder) => `<rootDir>/${folder}/`),
	collectCoverageFrom: ['{nodes,credentials}/**/*.ts', '!**/*.d.ts'],
	coverageDirectory: 'coverage',
	coverageReporters: [['text', { skipFull: true }], 'json-summary', 'html'],
	coverageThreshold: { global: { lines: 95, branches: 95 } },
	maxWorkers: 2,
	testTimeout: 15_000,
};
