import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { publishingCommands } from './publishingCommands';

const workflow = (...steps: string[]): string =>
	['jobs:', '  publish:', '    steps:', ...steps.map((step) => `      - ${step}`), ''].join('\n');
const PUBLISH = 'run: npm publish --access public';

test('the commands are rehearsed in their order', () => {
	const text = workflow(
		'uses: actions/checkout@1\n        with:\n          a: b',
		'run: npm ci',
		PUBLISH,
	);
	expect(publishingCommands(text)).toEqual(['npm ci', 'npm publish --access public']);
});

test.each([
	'name: Check\n        run: npm test',
	'run: |\n          npm test',
	'run: a\n        if: b',
])('a step is refused that would be left out or changed: %j', (step) => {
	expect(() => publishingCommands(workflow(step, PUBLISH))).toThrow('cannot be rehearsed');
});

test('the last step has to publish', () => {
	expect(() => publishingCommands(workflow(PUBLISH, 'run: npm ci'))).toThrow('does not publish');
});

test('the workflow of this project can be rehearsed', () => {
	const text = readFileSync(path.join(ROOT, '.github', 'workflows', 'publish.yml'), 'utf8');
	expect(publishingCommands(text)).toHaveLength(text.match(/\brun:/g)?.length ?? 0);
});
