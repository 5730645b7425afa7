import {
	type IConnections,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeType,
	NodeHelpers,
} from 'n8n-workflow';
import { files, RECIPES } from '../../examples/source';
import { type Language, LANGUAGES, type PlacedNode } from '../../examples/source/workflow';
import { outputsExpression } from '../../nodes/DigitalSales/actions/registry';
import { ACTION_TYPE, defaultProcess, runWorkflow, testDouble } from '../helpers/engine';

/** Phones as customers type them, as the platform returns them, and as WhatsApp dials them. */
const PHONES = [
	{ typed: '(11) 91234-5678', given: '11912345678', dialed: '5511912345678' },
	{ typed: '+51 912 345 678', given: '51912345678', dialed: '51912345678' },
	{ typed: '00351 912 345 678', given: '351912345678', dialed: '351912345678' },
	{ typed: '+1 (415) 555-2671', given: '14155552671', dialed: '14155552671' },
];

const SALE = {
	hash: 'ab12cd34ef',
	payment_status: 'paid',
	amount_reais: 19.9,
	amount: 1990,
	amount_liquid: 1800,
	customer_name: 'Maria da Silva',
	customer_email: 'maria@example.com',
	customer_document: '52998224725',
	product_hash: 'prodab12cd',
	product_title: 'Curso',
	offer_hash: 'offer12ab',
	offer_title: 'Curso',
	payment_method: 'pix',
	created_at: '2026-01-02 10:00:00',
	updated_at: '2026-01-02 10:00:00',
	pix_qr_code: '00020126',
	pix_qr_code_image: 'data:image/png;base64,',
	src: null,
	...{ utm_source: null, utm_medium: null, utm_campaign: null, utm_content: null, utm_term: null },
};
const sale = (nth: number): IDataObject => ({ ...SALE, customer_phone: PHONES[nth]?.given });
const ERROR = {
	message: 'Customer CPF or CNPJ is wrong',
	advice: 'Correct it',
	outcome: 'notSent',
};
const PRODUCT = {
	...{ product_hash: 'prodab12cd', title: 'Curso', status: 1, sale_page: 'https://example.com' },
	...{ offer_hash: 'offer12ab', offer_title: 'Curso', price_reais: 19.9 },
	checkout_url: 'https://example.com',
};

/** A recipe as its file has it. */
interface RecipeFile {
	nodes: Array<PlacedNode & Pick<INode, 'onError'>>;
	connections: IConnections;
}

const FILES = files();
const recipeFile = (name: string, language: Language = 'en'): RecipeFile =>
	JSON.parse(FILES[`${language}/${name}.json`] ?? '') as RecipeFile;

const kindOf = ({ type, parameters: { operation = '' } }: PlacedNode): string =>
	`${type.replace(/^.*\./, '')} ${String(operation)}`.trim();

/** The first items of a workflow. */
function startItems(kind: string): IDataObject[] {
	if (kind === 'formTrigger') {
		return PHONES.map(({ typed }) => ({
			name: 'Maria da Silva',
			email: 'maria@example.com',
			whatsapp: typed,
			document: '12.ABC.345/01DE-35',
			...{ formMode: 'production', submittedAt: '2026-01-02T10:00:00.000-03:00' },
		}));
	}
	if (kind === 'digitalSalesTrigger') return PHONES.map((_phone, nth) => sale(nth));
	const workflow = { id: 'a', name: 'A workflow' };
	const execution = { url: 'https://n8n.example.com', error: ERROR, lastNodeExecuted: 'A node' };
	return [{ workflow, execution }];
}

/** The output of a node for an item, on each of its outputs. By default, the item itself. */
function answersOf(
	node: PlacedNode,
	nth: number,
	json: IDataObject,
	parameters: IDataObject,
): IDataObject[] {
	switch (kindOf(node)) {
		case 'digitalSales create':
			return [sale(nth % PHONES.length), { error: ERROR }];
		case 'digitalSales get':
			return [sale(nth % PHONES.length)];
		case 'digitalSales waitForPayment':
			return [{ ...sale(nth % PHONES.length), paid: true, timed_out: true }];
		case 'digitalSales getAll':
			return [PRODUCT];
		case 'googleSheets read':
			return PHONES.map(({ typed }, at) => ({
				...{ row_number: at + 2, email: 'maria@example.com' },
				...{ order: `a${at}`, name: 'Maria', phone: typed, document: '52998224725', price: 97 },
			}));
		case 'agent':
			return [{ output: 'Hi' }];
		case 'set': {
			const { assignments = [] } = Object(parameters.assignments) as {
				assignments?: Array<{ name: string; value: string }>;
			};
			return [
				{ ...json, ...Object.fromEntries(assignments.map(({ name, value }) => [name, value])) },
			];
		}
		default:
			return /^(if|filter|switch|wait|form|\w*Trigger)\b/.test(kindOf(node))
				? [json]
				: [{ ok: true }];
	}
}

/** A node's expressions, each with its value. */
type Evaluated = Record<string, Array<[expression: string, value: unknown]>>;

/** A node that evaluates its parameters as the real node would, and leaves by each of its outputs. */
function standIn(nodes: PlacedNode[], evaluated: Evaluated): INodeType {
	const names = [...new Set(nodes.flatMap(({ parameters }) => Object.keys(parameters)))];
	const isBranch = nodes.some((node) => /^(if|switch)$/.test(kindOf(node)));
	const isOurs = nodes.some(({ type }) => type.endsWith('.digitalSales'));
	return testDouble(
		async function () {
			const { name } = this.getNode();
			const node = nodes.find((one) => one.name === name);
			// Loops end.
			if (!node || Number(this.evaluateExpression('{{ $runIndex }}', 0)) > 1) return [[]];
			const given = this.getInputData().flatMap(({ json }, item): INodeExecutionData[] => {
				const parameters = Object.fromEntries(
					Object.keys(node.parameters).map((key) => [key, this.getNodeParameter(key, item)]),
				) as IDataObject;
				(evaluated[name] ??= []).push(...pairs(node.parameters, parameters));
				return answersOf(node, item, json, parameters).map((answer) => ({
					json: answer,
					pairedItem: { item },
				}));
			});
			return isBranch || kindOf(node).endsWith('waitForPayment') ? [given, given] : [given];
		},
		isBranch ? 2 : 1,
		{
			...(isOurs && { outputs: outputsExpression() }),
			properties: names.map((name) => ({ displayName: name, name, type: 'json', default: '' })),
			...(nodes.some(({ type }) => type.endsWith('Trigger')) && { inputs: [], group: ['trigger'] }),
		},
	);
}

function pairs(raw: unknown, value: unknown): Array<[string, unknown]> {
	if (typeof raw === 'string') return raw.startsWith('=') ? [[raw, value]] : [];
	if (typeof raw !== 'object' || raw === null) return [];
	return Object.entries(raw).flatMap(([key, inner]) => pairs(inner, Object(value)[key]));
}

/** Runs a recipe from each of its starts. */
async function evaluate({ nodes: placed, connections }: RecipeFile): Promise<Evaluated> {
	const nodes = placed.filter(({ type }) => !type.endsWith('.stickyNote'));
	const evaluated: Evaluated = {};
	const types = [...new Set(nodes.map(({ type }) => type))];
	const nodeTypes = Object.fromEntries(
		types.map((type) => [
			type,
			standIn(
				nodes.filter((node) => node.type === type),
				evaluated,
			),
		]),
	);
	for (const start of nodes.filter(({ type }) => type.endsWith('Trigger'))) {
		const { status, error } = await runWorkflow({
			nodes: [start, ...nodes.filter((node) => node !== start)].map(
				({ name, type, typeVersion, position, parameters, onError }) => ({
					...{ name, type, typeVersion, position, parameters, onError },
				}),
			),
			connections,
			nodeTypes,
			startItems: startItems(kindOf(start)),
		});
		expect([status, error?.message]).toEqual(['success', undefined]);
	}
	return evaluated;
}

/** The recipes are the same in each language (test/tools/package/recipes.test.ts). */
describe('Every expression of the recipe', () => {
	test.each(Object.keys(RECIPES))(
		'%s has a value, whatever country the phone is from',
		async (name) => {
			const workflow = recipeFile(name);
			const attached = Object.entries(workflow.connections).flatMap(([node, kinds]) =>
				Object.keys(kinds).some((kind) => kind.startsWith('ai_')) ? [node] : [],
			);

			const evaluated = await evaluate(workflow);

			const expected = workflow.nodes.filter(
				({ name: node, parameters }) =>
					!attached.includes(node) && pairs(parameters, {}).length > 0,
			);
			expect(Object.keys(evaluated)).toEqual(
				expect.arrayContaining(expected.map((node) => node.name)),
			);
			const all = Object.values(evaluated).flat();
			const wrong = all.filter(
				([, value]) =>
					value === undefined ||
					/undefined|NaN|\[object |Invalid Date/.test(
						typeof value === 'string' ? value : JSON.stringify(value),
					),
			);
			expect(wrong).toEqual([]);
		},
	);
});

test.each(['charge-by-whatsapp', 'charge-by-evolution-api', 'recover-unpaid-pix'])(
	'%s writes to the number that each customer typed, and to no other',
	async (name) => {
		const evaluated = await evaluate(recipeFile(name));

		const numbers = (sender: string): unknown[] =>
			(evaluated[sender] ?? []).flatMap(([, value]) =>
				/^\d{8,}$/.test(String(value)) ? [value] : [],
			);
		expect(numbers('Send the code').filter((one) => one !== SALE.pix_qr_code)).toEqual(
			PHONES.map(({ dialed }) => dialed),
		);
	},
);

/** The values of a node's expressions at a time of day. */
async function valuesAt(time: string, name: string, node: string): Promise<unknown[]> {
	const text = JSON.stringify(recipeFile(name));
	const file = text.replaceAll('$now', `DateTime.fromISO('2026-07-30T${time}')`);
	const evaluated = await evaluate(JSON.parse(file) as RecipeFile);
	return (evaluated[node] ?? []).map(([, value]) => value);
}

test.each([
	['10:00', 15, 30],
	['19:50', 730, 730],
	['03:00', 300, 300],
])(
	'at %s, the first reminder comes in %i minutes, and the code of a checkout in %i',
	async (...row) => {
		const [time, reminder, code] = row;

		expect(await valuesAt(time, 'recover-unpaid-pix', 'Plan the next reminder')).toContain(
			reminder,
		);
		expect(await valuesAt(time, 'recover-checkout-pix', 'Wait 30 minutes')).toContain(code);
	},
);

test('the recipes that charge show that the Offer is missing until it is chosen', () => {
	const description = defaultProcess.nodeTypes[ACTION_TYPE]?.description;
	const charges = LANGUAGES.flatMap((language) =>
		Object.keys(RECIPES).flatMap((name) =>
			recipeFile(name, language).nodes.filter((node) => kindOf(node) === 'digitalSales create'),
		),
	);
	const issues = (node: PlacedNode): unknown =>
		NodeHelpers.getNodeParametersIssues(description?.properties ?? [], node, description ?? null);

	expect(charges).toHaveLength(8 * LANGUAGES.length);
	for (const node of charges) {
		expect(JSON.stringify(issues(node))).toContain('Offer');
		const chosen = JSON.stringify(node).replace(/(?<="offerHash":\{[^}]*"value":)""/, '"a"');
		expect(issues(JSON.parse(chosen) as PlacedNode)).toBeNull();
	}
});
