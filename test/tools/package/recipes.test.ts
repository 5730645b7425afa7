import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { files, recipeOf, RECIPES } from '../../../examples/source';
import { parsePhone } from '../../../nodes/DigitalSales/domain/customer';
import { normalizeReference } from '../../../nodes/DigitalSales/domain/reference';
import { PHONES } from '../../helpers/typed';
import { chargeOrder, whatsAppNumber } from '../../../examples/source/parts';
import { LANGUAGES, render, sayIn, type Language } from '../../../examples/source/workflow';

const EXAMPLES = path.join(__dirname, '../../../examples');

/** A form charges, and a trigger of the same workflow gets the payment. */
const STARTS: Record<string, number> = { 'sell-and-deliver': 2, reconciliation: 2 };

/** The number that a recipe dials for a phone. */
const dialed = new Function('phone', `return ${whatsAppNumber('phone')}`) as (
	phone: unknown,
) => unknown;

describe('The workflows of examples/', () => {
	test('are up to date with examples/source (npm run check -- write)', () => {
		const pages = readdirSync(EXAMPLES).filter((name) => name.endsWith('.md'));
		const workflows = LANGUAGES.flatMap((language) =>
			readdirSync(path.join(EXAMPLES, language)).map((name) => `${language}/${name}`),
		);
		const written = [...pages, ...workflows].map((name): [string, string] => [
			name,
			readFileSync(path.join(EXAMPLES, name), 'utf8'),
		]);

		expect(Object.fromEntries(written)).toEqual(files());
	});

	test('are each run in a real n8n, by test/e2e/recipes.test.ts', () => {
		const tests = readFileSync(path.join(EXAMPLES, '../test/e2e/recipes.test.ts'), 'utf8');

		expect(Object.keys(RECIPES).filter((name) => !tests.includes(`'${name}'`))).toEqual([]);
	});

	test.each(Object.entries(RECIPES))(
		'%s has one start, and no node that does nothing',
		(name, recipe) => {
			for (const language of LANGUAGES) {
				const { nodes } = render(recipe, name, language);
				const starts = nodes.filter(({ type }) => /Trigger$/.test(type));

				expect([name, starts.length]).toEqual([name, STARTS[name] ?? 1]);
				expect(nodes.map(({ type }) => type)).not.toContain('n8n-nodes-base.noOp');
				expect(new Set(nodes.map((node) => node.name)).size).toBe(nodes.length);
			}
		},
	);

	test.each(Object.entries(RECIPES))(
		'%s goes on waiting if a message other than the code cannot be sent',
		(name, recipe) => {
			const { nodes } = render(recipe, name, 'en');
			const isWaiting = nodes.some(({ parameters }) => parameters.operation === 'waitForPayment');
			const senders = nodes.filter(({ type }) => /\.(whatsApp|emailSend|httpRequest)$/.test(type));
			// recover-unpaid-pix sends the code again while the PIX is unpaid.
			const withoutCode = name === 'recover-unpaid-pix' ? [] : ['Send the PIX', 'Send the code'];

			for (const sender of isWaiting ? senders : []) {
				const [node = ''] = sender.name.split(' (');
				const onError = withoutCode.includes(node) ? undefined : 'continueRegularOutput';
				expect({ onError: undefined, ...sender }).toMatchObject({ onError, retryOnFail: true });
			}
		},
	);

	test.each([
		'paid-sale',
		'ad-attribution',
		'access-by-http',
		'charge-list-from-google-sheets',
		'catalog-to-google-sheets',
	])('%s passes the fields on as they come', (name) => {
		const { nodes } = render(recipeOf(name), name, 'en');
		const types = nodes.map(({ type }) => type.replace(/^.*\./, ''));

		expect(types).toEqual(expect.arrayContaining([expect.stringMatching(/^(googleS|httpR)/)]));
		expect(types.filter((type) => ['set', 'code'].includes(type))).toEqual([]);
	});

	// After such a limit, n8n 2.41 uses the text of the model as the answer of the person.
	test('ai-sales-assistant waits for its reviewer without a limit', () => {
		const { nodes } = render(recipeOf('ai-sales-assistant'), 'ai-sales-assistant', 'en');
		const review = nodes.find(({ type }) => type.endsWith('HitlTool'));

		expect(review?.parameters.options).toEqual({ appendAttribution: false });
	});

	test.each(Object.entries(RECIPES))('%s has no node on top of another', (name, recipe) => {
		for (const language of LANGUAGES) {
			const { nodes, connections } = render(recipe, name, language);
			const served = Object.values(connections).flatMap((outputs) =>
				Object.entries(outputs).flatMap(([kind, targets]) =>
					kind === 'main' ? [] : targets.flat().map(({ node }) => node),
				),
			);
			/** As the editor of n8n 2.41 draws it. A name is below its node and up to 200 wide. */
			const boxes = nodes.map(({ name: node, type, position: [x, y], parameters }) => {
				if (type.endsWith('.stickyNote')) {
					return {
						node,
						x,
						y,
						width: Number(parameters.width),
						height: Number(parameters.height),
					};
				}
				return served.includes(node)
					? { node, x, y, width: 260, height: 100 }
					: { node, x: x - 50, y, width: 200, height: 150 };
			});
			const covered = boxes.flatMap((one, at) =>
				boxes.slice(at + 1).flatMap((other) => {
					const isApart =
						one.x + one.width <= other.x ||
						other.x + other.width <= one.x ||
						one.y + one.height <= other.y ||
						other.y + other.height <= one.y;
					return isApart ? [] : [[one.node, other.node]];
				}),
			);
			expect(covered).toEqual([]);
		}
	});

	test.each<[unknown, string]>([
		['(11) 91234-5678', '5511912345678'],
		['554787654321@s.whatsapp.net', '5547987654321'],
		['51912345678@s.whatsapp.net', '51912345678'],
		['554787654321@lid', ''],
		['120363041234567890@g.us', ''],
		['(11) 91234-56789', ''],
		// Numbers of Portugal, the USA, Chile and Australia without their +.
		['351912345678', ''],
		['14155552671', ''],
		['56912345678', ''],
		['61412345678', ''],
		['whatsapp:+51912345678', '51912345678'],
		['+11 91234-5678', ''],
		['+55 91234-5678', ''],
		['20 91234-5678', ''],
		['91234-5678', ''],
		['', ''],
		[null, ''],
	])('write by WhatsApp for the phone %j to "%s"', (phone, number) => {
		expect(dialed(phone)).toBe(number);
	});

	test('write to exactly the phone that is charged, of Brazil or of another country', () => {
		const signs = [' ', '-', '.', ') ', '\u2011', '\u00a0', ''];
		const grouped = fc
			.tuple(
				fc.constantFrom('1191234', '113333', '51912', '91234', '5591234', '415555', '21'),
				fc.constantFrom(...signs),
				fc.integer({ min: 100, max: 99_999 }),
			)
			.map((parts) => parts.join(''));
		const prefix = fc.constantFrom(
			...[
				'',
				"'",
				'+',
				'00',
				'00 ',
				'＋',
				'+55',
				'0055',
				'55',
				'0',
				'015',
				'(',
				'(0)',
				'0xx',
				'0 xx',
			],
			...['+55 0', '+55 (0) ', '+55 015', '+51 ', '0051', '+1 ', '+351 ', '\u202a+55 ', '５５'],
		);
		const phones = fc.oneof(
			fc.tuple(prefix, grouped).map((parts) => parts.join('')),
			fc.constantFrom(...PHONES.map(({ typed }) => typed)),
		);
		let charged = 0;
		fc.assert(
			fc.property(phones, (typed) => {
				const read = parsePhone(typed);
				if ('problem' in read) return;
				charged += 1;
				const hasCountry = /^\W*(\+|＋|00)|@/.test(String(typed));
				const isAbroad = hasCountry && !read.value.startsWith('55');
				const local = read.value.replace(/^55(?=\d{10,11}$)/, '');
				expect([typed, dialed(typed)]).toEqual([typed, isAbroad ? read.value : `55${local}`]);
			}),
			{ numRuns: 1_000 },
		);
		expect(charged).toBeGreaterThan(100);
	});

	test.each(LANGUAGES)('charge a company by its whole CNPJ, letters included (%s)', (language) => {
		const say = sayIn(language);
		const { parameters } = chargeOrder(say, 'order');
		const whatsapp = '+55 (11) 91234-5678';
		const more = { whatsapp, email: ' A@B.c', submittedAt: '2026-01-02T23:59:00.000-03:00' };
		const chosen = { cart: { items: [{ offerHash: { value: 'offer1' } }] } };
		const referenceOf = (document: string): string =>
			normalizeReference(
				String(parameters.orderReference).replace(/=?\{\{(.*?)\}\}/g, (_part, code: string) =>
					String(
						new Function('order', '$parameter', `return (${code})`)(
							{ [say('document', 'documento')]: document, ...more },
							chosen,
						),
					),
				),
			);

		expect(referenceOf('12.abc.345/01de-35')).toBe(
			'12abc34501de35, 11912345678, a@b.c, offer1, 2026-01-02',
		);
		expect(referenceOf('12ABC34501DE35')).toBe(referenceOf('12.abc.345/01de-35'));
		expect(referenceOf('12ABD34501DE35')).not.toBe(referenceOf('12ABC34501DE35'));
	});

	// Therefore test/e2e/recipes.test.ts runs most recipes in one language.
	test.each(
		Object.keys(RECIPES).flatMap((name) => [
			{ name, language: 'en', start: 'README.md', all: 'examples/README.md' },
			{ name, language: 'pt-BR', start: 'docs/leia-me.md', all: 'examples/README.pt-BR.md' },
		]),
	)('$name is in $start, and in $all with its picture', ({ name, language, start, all }) => {
		const read = (page: string): string => readFileSync(path.join(EXAMPLES, '..', page), 'utf8');
		expect(read(start)).toContain(`/${language}/${name}.json)`);
		expect(read(all)).toContain(`(${language}/${name}.json)`);
		expect(read(all)).toContain(`(../docs/pictures/examples/${language}/${name}.png)`);
	});

	test.each(Object.entries(RECIPES))('%s is the same workflow in each language', (_, recipe) => {
		const pairs: Array<Record<Language, string>> = [];
		const marked = JSON.stringify(
			recipe((en, portuguese) => `«${pairs.push({ en, 'pt-BR': portuguese }) - 1}»`),
		);
		/** Removes the signs by which a template differs from a text with expressions. */
		const plain = (text: string): string => text.replace(/[${} ]/g, '');
		for (const language of LANGUAGES) {
			const filled = (text: string): string =>
				text.replace(/«(\d+)»/g, (_mark, nth: string) => {
					const said = filled(pairs[Number(nth)]?.[language] ?? '');
					return JSON.stringify(said).slice(1, -1);
				});
			const workflow = JSON.stringify(recipe(sayIn(language)));
			expect(plain(filled(marked))).toBe(plain(workflow));

			for (const [, code = ''] of workflow.matchAll(/\{\{(.*?)\}\}/g)) {
				expect(() => new Function(`return (${JSON.parse(`"${code}"`)})`)).not.toThrow();
			}
		}
		// Each name has one translation, so that a reader finds it. A greeting may vary.
		const names = pairs.filter(({ en }) => en !== 'there');
		const isOneToOne = (from: Language, to: Language): boolean => {
			const named = new Map(names.map((pair) => [pair[from], pair[to]]));
			return names.every((pair) => named.get(pair[from]) === pair[to]);
		};
		expect([isOneToOne('en', 'pt-BR'), isOneToOne('pt-BR', 'en')]).toEqual([true, true]);
	});

	test.each(Object.entries(RECIPES))('%s says everything in each language', (name, recipe) => {
		const [english, portuguese] = LANGUAGES.map((language) => render(recipe, name, language));

		expect(portuguese?.name).not.toBe(english?.name);
		const texts = (workflow = english) =>
			workflow?.nodes.flatMap(({ type, parameters }) =>
				type.endsWith('.stickyNote') ? [Object(parameters).content] : [],
			) ?? [];
		expect(texts(portuguese)).toHaveLength(texts().length);
		expect(texts(portuguese).filter((text) => texts().includes(text))).toEqual([]);
	});
});
