import js from '@eslint/js';
import { buildScanConfig } from '@n8n/scan-community-package/scanner/scanner.mjs';
import { defineConfig, globalIgnores } from 'eslint/config';
import jestPlugin from 'eslint-plugin-jest';
import tseslint from 'typescript-eslint';

/** What ships is linted exactly as n8n's own scanner does it, by the scanner's own configuration. */
const SHIPPED = ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'];
const TESTS = ['test/**/*.ts'];

const scan = (await buildScanConfig()).map((entry) => {
	const files = entry.files?.flat() ?? [];
	return { ...entry, files: files.length === 0 ? SHIPPED : files };
});

export default defineConfig(
	globalIgnores(['dist/', 'coverage/', 'reports/', '.n8n-host/', '.n8n-data/', 'test/n8n-host/']),
	{ files: ['{nodes,credentials}/**/*'], linterOptions: { noInlineConfig: true } },
	scan,
	{
		files: ['{nodes,credentials,test}/**/*.ts'],
		extends: [js.configs.recommended, tseslint.configs.recommended],
		rules: {
			'@typescript-eslint/no-explicit-any': 'error',
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/no-unused-vars': [
				'error',
				{ varsIgnorePattern: '^_', argsIgnorePattern: '^_' },
			],
		},
	},
	{
		files: ['{nodes,credentials}/**/*.ts'],
		rules: {
			'@typescript-eslint/no-non-null-assertion': 'error',
			'@typescript-eslint/consistent-type-assertions': [
				'error',
				{ assertionStyle: 'as', objectLiteralTypeAssertions: 'never' },
			],
		},
	},
	{
		files: TESTS,
		extends: [jestPlugin.configs['flat/recommended']],
		rules: {
			'jest/expect-expect': ['error', { assertFunctionNames: ['expect*', 'fc.assert', 'assert*'] }],
			'jest/no-standalone-expect': 'off',
			'jest/no-disabled-tests': 'error',
		},
	},
	{
		files: ['*.js', '*.cjs', 'scripts/**/*.js'],
		extends: [js.configs.recommended],
		languageOptions: {
			sourceType: 'commonjs',
			globals: {
				require: 'readonly',
				module: 'writable',
				exports: 'writable',
				process: 'readonly',
				Buffer: 'readonly',
			},
		},
	},
);
