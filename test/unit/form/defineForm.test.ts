import {
	moneyField,
	allowBlank,
	rejectBlank,
	textField,
	textSchema,
	wholeNumberSchema,
} from '../../../nodes/DigitalSales/form/fields';
import { fieldLabel } from '../../../nodes/DigitalSales/form/readForm';
import {
	defineField,
	defineForm,
	defineGroup,
	defineList,
	type Form,
	type NoticeText,
} from '../../../nodes/DigitalSales/form/defineForm';
import { offerLocator } from '../../../nodes/DigitalSales/form/locators';

const notice: NoticeText = { displayName: 'Read me', name: 'readMe', type: 'notice', default: '' };

const form = defineForm(
	[
		notice,
		textField({
			displayName: 'Name',
			name: 'personName',
			sentAs: 'person.name',
			reads: rejectBlank(textSchema),
		}),
		textField({
			displayName: 'Phone',
			name: 'personPhone',
			sentAs: 'person.phone_number',
			reads: allowBlank(textSchema),
		}),
		textField({ displayName: 'Note', name: 'note', reads: allowBlank(textSchema) }),
		defineField({
			displayName: 'Methods',
			name: 'methods',
			type: 'multiOptions',
			default: [],
			sentAs: 'methods',
			reads: allowBlank(wholeNumberSchema(1).array()),
		}),
		defineList({ displayName: 'Cart', name: 'cart', sentAs: 'cart' }, 'Item', [
			offerLocator,
			moneyField({ displayName: 'Price', name: 'price', sentAs: 'price' }),
			textField({
				displayName: 'Kind',
				name: 'kind',
				sentAs: 'kind',
				reads: allowBlank(textSchema),
			}),
		]),
		defineGroup({ displayName: 'More', name: 'more' }, [
			notice,
			textField({
				displayName: 'Size',
				name: 'size',
				sentAs: 'size',
				reads: allowBlank(wholeNumberSchema(1)),
			}),
			defineGroup({ displayName: 'Origin', name: 'origin', sentAs: 'origin' }, [
				textField({
					displayName: 'UTM Source',
					name: 'utmSource',
					sentAs: 'utm_source',
					reads: allowBlank(textSchema),
				}),
			]),
		]),
	],
	({ note }) => (note === 'wrong' ? [{ path: ['note'], message: 'is wrong' }] : []),
);

/** What is read, or where something is wrong. */
function read<T>({ schema }: Form<T>, input: unknown) {
	const result = schema.safeParse(input);
	return result.success
		? result.data
		: result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
}

/** The body of what is read. */
function bodyOf(input: unknown) {
	return form.body(form.schema.parse(input));
}

test('n8n gets the properties of all fields, in their order', () => {
	expect(form.properties.map(({ name }) => name)).toEqual([
		...['readMe', 'personName', 'personPhone', 'note', 'methods', 'cart', 'more'],
	]);
	expect(form.properties.at(-2)).toMatchObject({
		options: [
			{
				displayName: 'Item',
				name: 'items',
				values: [{ name: 'offerHash' }, { displayName: 'Price in Reais' }, { name: 'kind' }],
			},
		],
	});
	expect(form.properties.at(-1)).toMatchObject({
		options: [notice, { name: 'size' }, { name: 'origin', options: [{ name: 'utmSource' }] }],
	});
});

describe('The values of a form', () => {
	test('have the shape of the form, with lists as arrays', () => {
		expect(
			read(form, {
				personName: ' Maria ',
				methods: ['3'],
				cart: { items: [{ offerHash: 'ab12', price: '19,90', kind: 'a' }] },
				more: { size: '2', origin: { utmSource: 'ads' } },
			}),
		).toEqual({
			personName: 'Maria',
			methods: [3],
			cart: [{ offerHash: 'ab12', price: 1990, kind: 'a' }],
			more: { size: 2, origin: { utmSource: 'ads' } },
		});
	});

	test.each([{}, { cart: {}, more: {} }])('may lack collections: %j', (input) => {
		expect(read(form, { personName: 'Maria', ...input })).toEqual({
			personName: 'Maria',
			cart: [],
			more: { origin: {} },
		});
	});

	test.each<[object, string[]]>([
		[{ personName: '' }, ['personName is empty; fill it in']],
		[
			{ more: { size: 0, origin: { utmSource: true } } },
			['more.size must be a whole number of at least 1', 'more.origin.utmSource must be text'],
		],
		[{ note: 'wrong' }, ['note is wrong']],
		[{ note: 'wrong', more: { size: 0 } }, ['more.size must be a whole number of at least 1']],
		[{ more: null }, ['more Expected object, received null']],
	])('have a problem with its path: %j', (input, problems) => {
		expect(read(form, { personName: 'Maria', ...input })).toEqual(problems);
	});
});

describe('The body', () => {
	test("contains the filled-in fields under the platform's names", () => {
		const offerHash = { __rl: true, mode: 'hash', value: 'ab12' };
		const input = {
			personName: 'Maria',
			personPhone: '11',
			note: 'mine',
			methods: [1, 3],
			cart: {
				items: [
					{ offerHash, price: '0', kind: 'a' },
					{ offerHash, kind: 'c' },
				],
			},
			more: { size: 2, origin: { utmSource: 'ads' } },
		};

		expect(bodyOf(input)).toEqual({
			person: { name: 'Maria', phone_number: '11' },
			methods: [1, 3],
			cart: [
				{ offer_hash: 'ab12', price: 0, kind: 'a' },
				{ offer_hash: 'ab12', kind: 'c' },
			],
			size: 2,
			origin: { utm_source: 'ads' },
		});
	});

	test('leaves out blanks, empty lists and empty groups', () => {
		const input = {
			personName: 'Maria',
			personPhone: ' ',
			methods: [],
			more: { origin: { utmSource: '' } },
		};

		expect(bodyOf(input)).toEqual({ person: { name: 'Maria' } });
	});
});

test.each<[string, string | undefined]>([
	['person.name', 'Name'],
	['methods', 'Methods'],
	['methods.1', 'Methods'],
	['cart.2.price', 'Cart > Item 3 > Price in Reais'],
	['size', 'More > Size'],
	['origin', 'More > Origin'],
	['origin.utm_source', 'More > Origin > UTM Source'],
	['cart.1st.kind', undefined],
	['cart.kind', undefined],
	['note', undefined],
	['constructor', undefined],
])('errors call the field %s of the platform %s', (serviceField, label) => {
	expect(fieldLabel(form, serviceField)).toBe(label);
});
