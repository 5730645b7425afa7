import { readFileSync } from 'node:fs';
import path from 'node:path';
import { chargeForm } from '../../../nodes/DigitalSales/actions/transaction/create.form';
import { ROOT } from '../../helpers/n8n/paths';
import { everyProperty, filesOf, FORMS } from '../../helpers/forms';

const textOf = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');

const TROUBLESHOOTING = textOf('docs/troubleshooting.md');
const ENGLISH = textOf('README.md') + textOf('docs/guide.md');
const GUIDE = textOf('docs/pt-BR.md');

function matches(text: string, pattern: RegExp): string[] {
	return [...text.matchAll(pattern)].map(([whole, inner]) => inner ?? whole);
}

/** The levels of the headings, and the text of a heading that names an operation. */
function headingsOf(text: string): string[] {
	return matches(text, /^#+ .+$/gm).map((heading) =>
		heading.includes(' > ') ? heading : heading.replace(/[^#].*/, ''),
	);
}

/** The number of lines of each table. */
function tablesOf(text: string): number[] {
	return matches(text, /(?:^\|.*\n)+/gm).map((table) => table.split('\n').length - 1);
}

/** Texts in backticks: fields, messages, commands, amounts. */
function codeOf(text: string): string[] {
	return [...new Set(matches(text, /`([^`\n]+)`/g))].sort();
}

const LABELS = FORMS.flatMap(({ properties }) =>
	everyProperty(properties).flatMap(({ property: { displayName, type, options = [] } }) => [
		...(type === 'notice' ? [] : [displayName.replace(/ in (Cents|Reais)$/, '')]),
		...options.flatMap((option) => ('value' in option ? [option.name] : [])),
	]),
);

/** The labels of fields and choices that a page names in bold. */
function labelsOf(text: string): string[] {
	const bold = matches(text, /\*\*(.+?)\*\*/g).map((name) =>
		name.replace(/ in (Cents|Reais)$/, ''),
	);
	return [...new Set(LABELS)].filter((label) => bold.includes(label)).sort();
}

/** The names in bold of each numbered step, without the title of the step. */
function namesInSteps(text: string): string[][] {
	const steps = matches(text, /^\d+\. (?:\*\*[^*]+\.\*\* )?(.+)$/gm);
	return steps.map((step) => matches(step, /\*\*(.+?)\*\*/g).sort());
}

describe('The guide in Portuguese says what the README and the guide say', () => {
	test.each([
		['the same headings', headingsOf],
		['tables of the same length', tablesOf],
		['the same fields, messages and commands', codeOf],
		['the same labels', labelsOf],
		['the same names on the screen in each step', namesInSteps],
	])('with %s', (_what, partsOf) => {
		expect(partsOf(ENGLISH).length).toBeGreaterThan(2);
		expect(partsOf(GUIDE)).toEqual(partsOf(ENGLISH));
	});
});

test.each(['README.md', 'docs/pt-BR.md'])(
	'%s names fields that a charge sends, and one that it does not, to recognize a platform',
	(page) => {
		const [paragraph = ''] = matches(textOf(page), /^.*`offer_hash`.*$/gm);
		const sent = Object.keys(chargeForm.serviceFields);

		expect(codeOf(paragraph)).toEqual([
			'/products',
			'/public/v1',
			'/transactions',
			'cart',
			'offer_hash',
			'postback_url',
			'webhook_url',
		]);
		expect(sent).toEqual(expect.arrayContaining(['webhook_url', 'cart', 'cart.*.offer_hash']));
		expect(sent.filter((field) => /^offer_hash$|postback_url/.test(field))).toEqual([]);
		expect(paragraph).toContain('troubleshooting.md#the-request-for-a-charge-has-other-names');
	},
);

test('every message that the troubleshooting page explains exists in the code', () => {
	const rows = matches(TROUBLESHOOTING, /^\|[^|`]*`([A-Z][^`]+|may [^`]+)`/gm);
	const sources = [...filesOf('nodes', '.ts'), ...filesOf('credentials', '.ts')].map(textOf);
	const code = sources.join('\n').replaceAll(/\$\{[^}]*\}/g, '…');
	const known = rows.filter((message) => code.includes(message.replace(/ \(\d+\)$/, '')));

	expect(rows.length).toBeGreaterThan(4);
	expect(rows.filter((message) => !known.includes(message))).toEqual([]);
});
