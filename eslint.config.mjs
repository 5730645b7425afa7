import js from '@eslint/js';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { buildScanConfig } from '@n8n/scan-community-package/scanner/scanner.mjs';
import { defineConfig, globalIgnores } from 'eslint/config';
import jestPlugin from 'eslint-plugin-jest';
import regexpPlugin from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** What ships is linted as n8n's own scanner does it, by the scanner's own configuration. */
const SHIPPED = ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'];
const SHIPPED_CODE = ['{nodes,credentials}/**/*.ts'];
const TESTS = ['test/**/*.ts'];

/** The only files that talk to the service or to this n8n. */
const SENDERS = [
	'nodes/DigitalSales/api/client.ts',
	'nodes/DigitalSales/api/credentialTest.ts',
	'nodes/DigitalSales/n8n/triggers.ts',
	'nodes/DigitalSales/trigger/testEvent.ts',
];

// The scanner brings an older copy of n8n's plugin; the newest rules are what it will ask for next.
const scanner = (await buildScanConfig()).filter(
	(entry) => !entry.plugins?.['@n8n/community-nodes'],
);
const scan = [n8nCommunityNodesPlugin.configs.recommended, ...scanner].map((entry) => {
	const files = entry.files?.flat() ?? [];
	return { ...entry, files: files.length === 0 ? SHIPPED : files };
});

const sending = [
	{
		selector: 'Identifier[name=/^httpRequest/]',
		message: 'Requests go through Client.request in api/client.ts, which keeps budget and secrets.',
	},
	{
		selector:
			'MemberExpression[property.name=/^request(With|OAuth|$)/]:matches([object.name="helpers"], [object.property.name="helpers"])',
		message: 'Requests go through Client.request in api/client.ts, which keeps budget and secrets.',
	},
	{
		selector: 'CallExpression[callee.name="fetch"]',
		message: 'n8n guards its own request helpers (proxy, allowed hosts, redirects), and not fetch.',
	},
];

/** What rests on how n8n works beyond its published types stands in n8n/, one subject a file. */
const aroundTheDoor = [
	{
		selector:
			'MemberExpression[property.name=/^(getExecuteData|getWorkflowDataProxy|runExecutionData)$/]',
		message: 'What rests on how n8n works stands in n8n/.',
	},
	{
		selector: 'MemberExpression[property.name="evaluateExpression"]',
		message: 'Expressions are evaluated in form/ alone; what n8n knows otherwise stands in n8n/.',
	},
];

/** n8n drops every other tag from a notice, and joins the lines. */
const noticeTags = {
	selector:
		"ObjectExpression:has(> Property[key.name='type'] > Literal[value='notice']) > Property[key.name='displayName'] Literal[value=/<(?!\\/?(a|ul|li)\\b)\\/?\\w/]",
	message: 'A notice keeps a, ul and li alone: write plain sentences, or a list.',
};

const topLevel = ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration';
const moduleState = [
	{
		selector: `${topLevel}[kind="let"]`,
		message: 'State that outlives an execution is declared with processState() of shared/.',
	},
	{
		selector: `${topLevel} :not(CallExpression[callee.name="processState"]) > NewExpression[callee.name=/^(Weak)?(Map|Set)$/][arguments.length=0]`,
		message: 'State that outlives an execution is declared with processState() of shared/.',
	},
	{
		selector: `${topLevel} :not(CallExpression[callee.name="processState"]) > NewExpression[callee.name="BoundedMap"]`,
		message: 'State that outlives an execution is declared with processState() of shared/.',
	},
];

export default defineConfig(
	globalIgnores([
		'dist/',
		'coverage/',
		'reports/',
		'.stryker-tmp/',
		'.n8n-host/',
		'.n8n-hosts/',
		'.n8n-data/',
		'test/helpers/n8n-host/',
	]),
	{ linterOptions: { reportUnusedDisableDirectives: 'error' } },
	{ files: ['{nodes,credentials}/**/*'], linterOptions: { noInlineConfig: true } },
	scan,
	{
		files: ['{nodes,credentials,vendor,examples,test}/**/*.ts'],
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
		files: SHIPPED_CODE,
		plugins: { regexp: regexpPlugin },
		rules: {
			// A form accepts 10,000 characters, which such a pattern would search for minutes.
			'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
			'@typescript-eslint/no-non-null-assertion': 'error',
			'@typescript-eslint/consistent-type-assertions': [
				'error',
				{ assertionStyle: 'as', objectLiteralTypeAssertions: 'never' },
			],
			'no-restricted-syntax': ['error', ...sending, ...moduleState, ...aroundTheDoor, noticeTags],
			'@typescript-eslint/ban-ts-comment': 'error',
		},
	},
	{
		files: ['nodes/DigitalSales/n8n/*.ts'],
		rules: {
			'no-restricted-syntax': ['error', ...sending, ...moduleState],
			'@typescript-eslint/ban-ts-comment': [
				'error',
				{ 'ts-expect-error': 'allow-with-description' },
			],
		},
	},
	{
		files: ['nodes/DigitalSales/form/*.ts'],
		rules: {
			'no-restricted-syntax': ['error', ...sending, ...moduleState, aroundTheDoor[0]],
		},
	},
	{
		files: SENDERS,
		rules: { 'no-restricted-syntax': ['error', ...moduleState, ...aroundTheDoor] },
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
		files: ['*.{js,cjs,mjs}', '.*.{js,cjs,mjs}', 'test/**/*.{js,cjs,mjs}'],
		extends: [js.configs.recommended],
		languageOptions: {
			globals: {
				require: 'readonly',
				module: 'writable',
				__dirname: 'readonly',
				exports: 'writable',
				process: 'readonly',
				Buffer: 'readonly',
			},
		},
	},
	{
		files: ['*.{js,cjs}', '.*.{js,cjs}', 'test/**/*.{js,cjs}'],
		languageOptions: { sourceType: 'commonjs' },
	},
);
