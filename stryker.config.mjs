export default {
	mutate: ['nodes/**/*.ts'],
	testRunner: 'jest',
	jest: {
		configFile: 'jest.config.js',
		config: {
			testEnvironment: './test/tools/mutation/environment.cjs',
			testSequencer: './test/tools/mutation/unitFirst.cjs',
			runtime: './test/support/jest/runtime.cjs',
			testTimeout: 8_000,
		},
		// The tests are named at run time only, where jest does not see them.
		enableFindRelatedTests: false,
	},
	coverageAnalysis: 'perTest',
	reporters: ['clear-text', 'progress-append-only'],
	clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
	thresholds: { high: 90, low: 85, break: null },
	concurrency: 2,
	timeoutMS: 10_000,
	ignorePatterns: [
		'.n8n-host',
		'.n8n-hosts',
		'.registry-host',
		'.n8n-data',
		'coverage',
		'dist',
		'reports',
	],
	tempDirName: '.stryker-tmp',
};
