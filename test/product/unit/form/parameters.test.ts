import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import { everyProperty } from '../../engine/support/form';
import { markdownTable } from '../../../support/figures';
import { CHOOSERS, FORMS, type Form } from './forms';

const PAGE = path.resolve(__dirname, '../../../../docs/parameters.md');

const INTRODUCTION = `# Parameters

Every field of the forms under the name that saved workflows, expressions and the API of n8n use. \`[]\` stands for the entries of a list. Made from the forms by \`npm run write\`.
`;

const COLUMNS = ['parameter', 'label', 'type', 'default', 'shown if'];

function typeOf({ type, options = [], required }: INodeProperties): string {
	const isChoice = type === 'options' || type === 'multiOptions';
	const choices = options.flatMap((option) => ('value' in option ? [String(option.value)] : []));
	return `${isChoice ? `${type}: ${choices.join(', ')}` : type}${required ? ', required' : ''}`;
}

/** A condition in words; what chooses the whole form is not one. */
function conditionOf({ show = {}, hide = {} }: IDisplayOptions = {}): string {
	const worded = (conditions: object, is: string): string[] =>
		Object.entries(conditions)
			.filter(([field]) => !CHOOSERS.includes(field))
			.map(([field, values]) => `\`${field}\` ${is} ${String(values).replaceAll(',', ', ')}`);
	return [...worded(show, 'is'), ...worded(hide, 'is not')].join(' and ');
}

function rowsOf({ properties }: Form): string[][] {
	return everyProperty(properties)
		.filter(({ property }) => property.type !== 'notice')
		.map(({ path: name, property }) => [
			`\`${name.replaceAll('.items.', '.items[].')}\``,
			property.displayName,
			typeOf(property),
			`\`${JSON.stringify(property.default)}\``,
			conditionOf(property.displayOptions),
		]);
}

test('the page of parameters shows every field as it is (npm run write)', () => {
	const sections = FORMS.map((form) =>
		rowsOf(form).length === 0
			? `## ${form.name}\n\nNo fields.\n`
			: `## ${form.name}\n\n${markdownTable(COLUMNS, rowsOf(form))}\n`,
	);
	const page = [INTRODUCTION, ...sections].join('\n');
	if (process.env.WRITE) writeFileSync(PAGE, page);

	expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
