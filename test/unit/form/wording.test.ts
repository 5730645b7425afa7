import type { INodeProperties, INodePropertyMode, INodePropertyOptions } from 'n8n-workflow';
import { action, everyProperty, FORMS } from '../../helpers/forms';

/** Words that stay in lower case within a label. */
const SMALL = ['a', 'in', 'of', 'or', 'the', 'to', 'for'];

/** Lists of well-known names and words, which need no explanation. */
const SELF_EXPLAINING = [
	...['filters.status', 'filters.paymentMethods', 'paymentMethods'],
	...['additionalFields.methodDefault', 'additionalFields.interval', 'options.timeLimitUnit'],
	'options.fields',
];

const fields = [
	...FORMS.flatMap(({ name: form, properties }) =>
		everyProperty(properties).map(({ path, property }) => ({
			name: `${form} > ${path} (${property.displayName.slice(0, 40)})`,
			path,
			property,
		})),
	),
	...everyProperty(
		action.properties.filter(({ name }) => name === 'resource' || name === 'operation'),
	).map((field) => ({ name: field.path, ...field })),
];
const notices = fields.filter(({ property }) => property.type === 'notice');
const real = fields.filter(({ property }) => property.type !== 'notice');

function isTitleCase(label: string): boolean {
	return label
		.split(' ')
		.every((word, index) => /^[A-Z(]/.test(word) || (index > 0 && SMALL.includes(word)));
}

/** A single sentence has no full stop. Several sentences have one each. */
function endsAsItShould(text: string): boolean {
	const isOne = !/[.!?] [A-Z"]/.test(text);
	return /^[A-Z0-9"]/.test(text) && text.endsWith('.') !== isOne && !/ $|^ | {2}/.test(text);
}

function linesOf({ type, options = [] }: INodeProperties): INodePropertyOptions[] {
	return type === 'options' || type === 'multiOptions' ? (options as INodePropertyOptions[]) : [];
}

test.each(real)('$name has a label in Title Case', ({ property }) => {
	expect(property.displayName).toMatch(/^.{3,30}$/);
	expect([property.displayName, isTitleCase(property.displayName)]).toEqual([
		property.displayName,
		true,
	]);
});

test.each(real)('$name has a description of whole sentences', ({ property }) => {
	const { description, hint, modes = [] } = property;
	const texts = [description, hint, ...modes.map((mode) => mode.hint)];
	expect(texts.filter((text) => text !== undefined && !endsAsItShould(text))).toEqual([]);
});

test.each(notices)('$name has whole sentences', ({ property }) => {
	expect(property.displayName).toMatch(/^[A-Z].{20,}\.$/);
});

test.each(real.filter(({ property }) => property.type === 'boolean'))(
	'$name asks for a yes or no',
	({ property }) => {
		expect(property.description).toMatch(/^Whether to |^Whether [a-z]+ /);
	},
);

test.each(real.filter(({ property }) => linesOf(property).length > 0))(
	'$name names and explains its choices',
	({ path, property }) => {
		const choices = linesOf(property);
		const names = choices.map(({ name }) => name);
		expect(names.filter((name) => !isTitleCase(name))).toEqual([]);
		// n8n cuts longer ones.
		const shown = choices.map(({ description = '' }) => description);
		expect(shown.filter(({ length }) => length > 80)).toEqual([]);
		const explained = choices.flatMap(({ description }) => description ?? []);
		expect(explained.filter((text) => !endsAsItShould(text))).toEqual([]);
		const needsNone = path === 'resource' || SELF_EXPLAINING.includes(path);
		expect(explained).toHaveLength(needsNone ? 0 : choices.length);
		expect(new Set(names).size).toBe(choices.length);
		expect(new Set(choices.map(({ value }) => value)).size).toBe(choices.length);
	},
);

const isButton = ({ type }: INodeProperties): boolean =>
	type === 'collection' || type === 'fixedCollection';
const prompting = real.filter(
	({ property }) => property.type === 'collection' || property.placeholder !== undefined,
);

test.each(prompting)(
	'$name has a placeholder that is an example or the name of a button',
	({ property }) => {
		expect(property.placeholder).toMatch(isButton(property) ? /^Add [A-Z]/ : /^e\.g\. /);
	},
);

/** Numbers that count something, which an operation type does not. */
const counts = real.filter(
	({ property }) => property.type === 'number' && property.name !== 'operationType',
);
test.each(counts)('$name has a lowest value that the platform accepts', ({ path, property }) => {
	const { minValue = NaN, maxValue = Infinity } = property.typeOptions ?? {};
	expect(minValue).toBeGreaterThanOrEqual(0);
	expect(maxValue).toBeGreaterThan(minValue);
	expect(path.includes('Percentage') ? maxValue : 100).toBe(100);
});

describe('an amount', () => {
	const amounts = real.filter(({ property }) => /^(Price|Amount) /.test(property.displayName));
	const typed = amounts.filter(({ property }) => property.type === 'string');

	test('is typed in reais everywhere', () => {
		expect(typed.map(({ property }) => property.displayName).sort()).toEqual([
			'Price in Reais',
			'Price in Reais',
		]);
	});

	test.each(typed)('$name names its unit and shows an amount in it', ({ property }) => {
		expect(property.placeholder).toBe('e.g. 19,90');
		expect(`${property.hint} ${property.description}`).toContain('97 is R$ 97,00.');
	});
});

describe('a locator', () => {
	const locators = real.filter(({ property }) => property.type === 'resourceLocator');
	const modeOf = (property: INodeProperties, name: string): INodePropertyMode | undefined =>
		property.modes?.find((mode) => mode.name === name);

	test.each(locators)('$path offers the searchable list and a hash', ({ property }) => {
		expect(property.modes?.map(({ displayName }) => displayName)).toEqual(['From List', 'By Hash']);
		expect(modeOf(property, 'list')?.placeholder).toMatch(/^Choose an? (product|offer) \.\.\.$/);
		expect(modeOf(property, 'list')?.typeOptions).toEqual({
			searchListMethod: property.name.startsWith('product') ? 'searchProducts' : 'searchOffers',
			searchable: true,
			slowLoadNotice: { message: expect.stringContaining('By Hash') as string, timeout: 5_000 },
		});
		expect(modeOf(property, 'list')?.type).toBe('list');
		for (const mode of property.modes?.slice(1) ?? []) {
			expect(mode.type).toBe('string');
			expect(mode.placeholder).toMatch(/^e\.g\. /);
			expect(mode.hint).toBeDefined();
		}
	});
});

test('only secrets are hidden while they are typed', () => {
	const hidden = real.filter(({ property }) => property.typeOptions?.password === true);

	expect(hidden.map(({ path }) => path)).toEqual(['apiToken', 'bodyApiToken']);
});
