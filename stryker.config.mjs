/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	mutate: ['nodes/**/*.ts'],
	testRunner: 'jest',
	jest: {
		configFile: 'jest.config.js',
		config: {
			// What tests the stand-in, the harness or the build cannot notice a change of a node.
			testPathIgnorePatterns: ['/test/unit/sandbox/', '/test/engine/harness', '/test/package/'],
			testSequencer: './test/package/unitFirst.cjs',
		},
	},
	coverageAnalysis: 'perTest',
	// A mutant in what a module does once, at its loading, would need every test: texts and forms.
	ignoreStatic: true,
	incremental: true,
	incrementalFile: 'reports/mutation/incremental.json',
	htmlReporter: { fileName: 'reports/mutation/index.html' },
	reporters: ['clear-text', 'html', 'progress-append-only'],
	clearTextReporter: { allowColor: false, logTests: false },
	thresholds: { high: 90, low: 85, break: null },
	concurrency: 2,
	ignorePatterns: ['.n8n-host', '.n8n-data', 'coverage', 'dist', 'reports', '.github'],
	tempDirName: '.stryker-tmp',
	disableTypeChecks: false,
};
