import { createHash, randomUUID } from 'node:crypto';
import { NodeHelpers, type INodeTypeDescription } from 'n8n-workflow';
import { RECIPES } from '../../../examples/source';
import { editFields } from '../../../examples/source/nodes';
import { LANGUAGES, render, sayIn, type Language } from '../../../examples/source/workflow';
import type { Execution } from '../n8n/execution';
import type { SavedWorkflow } from '../n8n/rest';
import { NOTICE_SHAPES } from '../../sandbox';
import { chargeAt, cpf } from '../../support/charge';
import { until } from '../../support/until';
import { type ModelServer, serveModel } from './stage/models';
import { RecipeStage, well, type Change, type ImportedRecipe } from './stage/recipeStage';

const CUSTOMER = ['Maria da Silva', 'maria@example.test', '(11) 98765-4321', '529.982.247-25'];
/** The same with one field filled in differently. */
const customerWith = (field: number, value: string): string[] =>
	CUSTOMER.map((was, index) => (index === field ? value : was));
let customers = 200_000_000;
const newCustomer = (): string[] => customerWith(3, cpf((customers += 1)));
const EMAIL = 'maria@example.test';
const WHATSAPP = '5511987654321';
const UTM = { utm_source: 'instagram', utm_medium: 'cpc', utm_campaign: 'black-friday' };
const TRACKING = { tracking: { ...UTM, utm_content: 'video', utm_term: 'curso' } };

let recipes: RecipeStage;

beforeAll(async () => {
	recipes = await RecipeStage.open();
});
beforeEach(() => recipes.clear());
afterAll(async () => await recipes?.close());

/** The transaction that was made last. */
const charged = () => {
	const transaction = recipes.sandbox.transactions.at(-1);
	if (!transaction) throw new Error('Nothing was charged');
	return transaction;
};
const code = (): string => charged().pix?.pix_qr_code ?? '';
/** Everything that customers were sent, by mail or otherwise. */
const sent = (): unknown[] => {
	const { calls, webCalls, mail } = recipes.services;
	return [...mail.mails, ...calls, ...webCalls];
};
const told = (): unknown[] => recipes.services.callsOf('telegram').map(({ text }) => text);

/** Ends the wait for a payment after so many seconds. */
const limit =
	(timeLimit: number): Change =>
	({ parameters }) =>
		parameters.operation === 'waitForPayment'
			? { parameters: { timeLimit, timeLimitUnit: 'seconds' } }
			: undefined;
/** As the notes say: the nodes with a template activated, the other WhatsApp nodes deactivated. */
const byTemplate: Change = ({ type, disabled }) =>
	type === 'whatsApp' ? { disabled: !disabled } : undefined;
const forTrigger =
	(triggerOn: string[]): Change =>
	({ type }) =>
		type === 'digitalSalesTrigger' ? { parameters: { triggerOn } } : undefined;
const notCharged = { error: expect.stringMatching(/CPF.*Nothing was sent/s) };

type SavedNode = SavedWorkflow['nodes'][number];

/** What the editor would mark the node for, credentials to choose left out. */
function issuesOf(node: SavedNode, types: INodeTypeDescription[]): unknown {
	const type = types.find(
		({ name, version }) => name === node.type && [version].flat().includes(node.typeVersion),
	);
	if (!type) return `There is no ${node.type} of version ${node.typeVersion}`;
	const parameters =
		NodeHelpers.getNodeParameters(type.properties, node.parameters, true, false, node, type) ?? {};
	return NodeHelpers.getNodeParametersIssues(type.properties, { ...node, parameters }, type) ?? '';
}

/** Imports a recipe, in English if nothing else is said, and publishes it. */
const publish = async (
	recipe: string,
	change?: Change,
	language: Language = 'en',
): Promise<ImportedRecipe> => {
	const imported = await recipes.import(recipe, language, change);
	await imported.publish();
	return imported;
};

/** Has a customer order by the form of a recipe, up to its wait for the payment. */
const order = async (
	recipe: string,
	change?: Change,
	language?: Language,
	customer = CUSTOMER,
): Promise<ImportedRecipe> => {
	const imported = await publish(recipe, change, language);
	await imported.fillIn(customer);
	await imported.inState('waiting');
	return imported;
};

/** Publishes a recipe that sales start, and has a sale told to it in each of the given states. */
const sell = async (recipe: string, states: string[], language?: Language, change?: Change) => {
	const imported = await publish(recipe, change, language);
	const hash = await chargeAt(recipes.sandbox, imported.saleUrl, TRACKING);
	for (const [index, state] of states.entries()) {
		await recipes.sandbox.setStatus(hash, state);
		await imported.ended(index + 1);
	}
	return { imported, hash };
};

const granted = (hash: string) => ({
	url: 'https://members.example.com/api/access/grant',
	body: { email: EMAIL, transaction: hash },
});

const UTMIFY = 'https://api.utmify.com.br/api-credentials/orders';
/** A time of the platform, in Sao Paulo, as UTMify takes it. */
const utc = (time = ''): string =>
	new Date(`${time.replace(' ', 'T')}-03:00`).toISOString().slice(0, 19).replace('T', ' ');
const bodiesAt = (address: string): unknown[] =>
	recipes.services.webCalls.filter(({ url }) => url.startsWith(address)).map(({ body }) => body);

/** recover-unpaid-pix: a quick wait, and the reminders planned as at another time of day. */
const remindAt =
	(time: string, plan: string): Change =>
	(node) => {
		if (node.name !== plan) return limit(1)(node);
		const text = JSON.stringify(node.parameters).replaceAll('$now', `DateTime.fromISO('${time}')`);
		return { parameters: JSON.parse(text) as typeof node.parameters };
	};
const minutesOf = (execution: Execution, plan: string, minutes: string): number[] =>
	execution.items(plan).map(({ json }) => Number(json[minutes]));

/** recover-checkout-pix, told of a sale that waits for its payment. */
const waitForCheckout = async (language?: Language, change?: Change): Promise<ImportedRecipe> => {
	const quick: Change = (node) =>
		change?.(node) ??
		(node.type === 'wait' ? { parameters: { amount: 2, unit: 'seconds' } } : undefined);
	const imported = await publish('recover-checkout-pix', quick, language);
	const hash = await chargeAt(recipes.sandbox, imported.saleUrl, TRACKING);
	await recipes.sandbox.notify(hash, { url: imported.saleUrl });
	return imported;
};

/** reconciliation, with a schedule that only the test runs, and a way to wait for what a step starts. */
const reconcile = async (language?: Language, notify = 'automatic') => {
	const imported = await publish(
		'reconciliation',
		({ type, parameters }) => {
			if (type === 'scheduleTrigger') {
				return { parameters: { rule: { interval: [{ field: 'months', monthsInterval: 12 }] } } };
			}
			return parameters.operation === 'create' && parameters.resource === 'transaction'
				? { parameters: { notify } }
				: undefined;
		},
		language,
	);
	const over = async (step: () => Promise<unknown>): Promise<Execution> => {
		const before = await imported.runs();
		await step();
		return await imported.over(before + 1);
	};
	const charge = async (customer = newCustomer()): Promise<string> => {
		well(await over(async () => await imported.fillIn(customer)));
		return charged().hash;
	};
	return { imported, over, charge };
};

/** charge-list-from-google-sheets over rows with an order each, as the sheet holds them. */
const chargeList = async (language: Language, rows: Array<Record<string, unknown>>) => {
	const say = sayIn(language);
	const whole = rows.map((more) => ({
		[say('order', 'pedido')]: randomUUID(),
		[say('name', 'nome')]: 'Maria da Silva',
		email: EMAIL,
		[say('phone', 'telefone')]: '11987654321',
		[say('document', 'documento')]: '52998224725',
		[say('price', 'preco')]: '97,00',
		...more,
	}));
	recipes.services.sheets.set(say('Charges', 'Cobrar'), whole);
	const imported = await recipes.import('charge-list-from-google-sheets', language);
	return { rows: whole, run: async () => await imported.execute() };
};

describe.each(LANGUAGES)('The recipes in %s', (language) => {
	const say = sayIn(language);
	const salePaid = say('Sale paid', 'Venda aprovada');

	test('leave nothing to mend in a fresh n8n but credentials to choose', async () => {
		const types = await recipes.stage.rest.nodeTypes();
		for (const [name, recipe] of Object.entries(RECIPES)) {
			const { nodes } = await recipes.stage.rest.createWorkflow(render(recipe, name, language));
			for (const node of nodes) {
				expect([name, node.name, issuesOf(node, types)]).toEqual([name, node.name, '']);
			}
		}
	});

	test('the order form speaks the language of the recipe to its end', async () => {
		const page = await (await publish('charge-by-email', undefined, language)).form();

		expect(page).toContain(say('Get my PIX', 'Gerar meu Pix'));
		expect(page).toContain(say('You need not send the form again', 'Não precisa enviar de novo'));
	});

	const subject = expect.stringMatching(say('^Your PIX of R\\$', '^Seu Pix de R\\$'));
	const caption = expect.stringMatching(say('^Hi, Maria! .* R\\$', '^Oi, Maria! .* R\\$'));
	const picture = { recipientPhoneNumber: WHATSAPP, mediaPropertyName: 'qrCode' };
	test.each<[string, () => unknown[]]>([
		[
			'charge-by-email',
			() => [
				{
					to: { text: EMAIL },
					subject,
					html: expect.stringContaining(code()),
					attachments: [{ cid: 'qrCode', contentType: 'image/png' }],
				},
			],
		],
		[
			'charge-by-whatsapp',
			() => [
				{
					files: ['qrCode'],
					parameters: { ...picture, additionalFields: { mediaCaption: caption } },
				},
				{ parameters: { recipientPhoneNumber: WHATSAPP, textBody: code() } },
			],
		],
		[
			'charge-by-evolution-api',
			() => [
				{
					url: expect.stringContaining('https://evolution.example.com/message/sendMedia/'),
					body: { number: WHATSAPP, mediatype: 'image', caption, file: 'image/png' },
				},
				{
					url: expect.stringContaining('/message/sendText/'),
					body: { number: WHATSAPP, text: code() },
				},
			],
		],
	])('%s sends the picture and the code, and confirms what is paid', async (recipe, messages) => {
		const imported = await order(recipe, undefined, language);
		const expected = messages();
		expect(sent()).toMatchObject(expected);
		expect(JSON.stringify(sent())).toContain(say('Hi, Maria!', 'Oi, Maria!'));

		await recipes.sandbox.pay(charged().hash);

		await imported.ended();
		const [confirmation, ...more] = sent().slice(expected.length);
		expect(JSON.stringify(confirmation)).toContain(
			say('Payment confirmed', 'Pagamento confirmado'),
		);
		expect(more).toEqual([]);
	});

	test('recover-unpaid-pix reminds three times, then tells the team', async () => {
		const plan = say('Plan the next reminder', 'Planejar o próximo lembrete');
		const change = remindAt('2026-07-30T10:00:00', plan);
		const imported = await order('recover-unpaid-pix', change, language);

		const planned = minutesOf(await imported.ended(), plan, say('minutes', 'minutos'));
		expect(planned).toEqual([15, 180, 1440, 1440]);
		const messages = recipes.services.callsOf('whatsApp');
		expect(messages.slice(1, -1).map(({ textBody }) => textBody)).toEqual([
			code(),
			expect.stringContaining(say('is still open', 'ainda está em aberto')),
			code(),
			expect.stringContaining(say('is almost done', 'está quase lá')),
			code(),
		]);
		// A day later, WhatsApp takes only a template.
		expect(messages.at(-1)).toMatchObject({
			template: say('last_reminder|en_US', 'ultimo_lembrete|pt_BR'),
		});
		expect(JSON.stringify(messages.at(-1))).toContain(code());
		expect(told()).toEqual([expect.stringMatching(/Maria[^]*R\$/)]);
	});

	test('paid-sale writes one row and one contact a sale, and tells a CRM and the team', async () => {
		const { imported, hash } = await sell('paid-sale', ['paid'], language);
		for (const shape of NOTICE_SHAPES) await recipes.sandbox.notify(hash, { shape });

		const { services } = recipes;
		expect(services.rows(say('Sales', 'Vendas'))).toMatchObject([
			{
				[say('sale', 'venda')]: hash,
				status: 'paid',
				[say('amount', 'valor')]: 19.9,
				email: EMAIL,
				utm_source: 'instagram',
			},
		]);
		expect(services.callsOf('hubspot')).toMatchObject([
			{ email: EMAIL, additionalFields: { firstName: 'Maria', lastName: 'da Silva' } },
		]);
		expect(services.callsOf('googleSheets')).toMatchObject([
			{ options: { cellFormat: 'RAW', useAppend: true } },
		]);
		expect(services.webCalls).toMatchObject([
			{
				method: 'POST',
				url: 'https://crm.example.com/api/sales',
				headers: {
					authorization: 'Bearer test-key-of-another',
					'idempotency-key': `${hash}-paid`,
				},
				body: { [say('sale', 'venda')]: hash, utm_term: 'curso' },
			},
		]);
		expect(services.callsOf('telegram')).toMatchObject([
			{
				text: expect.stringMatching(
					`<b>${salePaid}</b>[^]*R\\$\\s?19[.,]90[^]*Maria da Silva[^]*maria@`,
				),
				additionalFields: { appendAttribution: false, parse_mode: 'HTML' },
			},
		]);
		expect(await imported.runs()).toBe(1);
	});

	test('ad-attribution tells UTMify and Meta of a paid sale', async () => {
		const { hash } = await sell('ad-attribution', ['paid'], language);

		const meta = `https://graph.facebook.com/v25.0/${say('YOUR-PIXEL-ID', 'ID-DO-SEU-PIXEL')}/events`;
		const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
		const { amount, amount_liquid: liquid, created_at, updated_at, payment_status } = charged();
		const [product] = recipes.sandbox.products;
		const [offer] = product?.offers ?? [];
		expect(payment_status).toBe('paid');
		expect(bodiesAt(UTMIFY)).toEqual([
			{
				orderId: hash,
				platform: 'DigitalSales',
				paymentMethod: 'pix',
				status: 'paid',
				createdAt: utc(created_at),
				approvedDate: utc(updated_at),
				refundedAt: null,
				customer: {
					name: 'Maria da Silva',
					email: EMAIL,
					phone: '11987654321',
					document: '52998224725',
				},
				products: [
					{
						id: product?.hash,
						name: product?.title,
						planId: offer?.hash,
						planName: offer?.title,
						quantity: 1,
						priceInCents: 1990,
					},
				],
				trackingParameters: { src: null, sck: null, ...TRACKING.tracking },
				commission: {
					totalPriceInCents: amount,
					gatewayFeeInCents: amount - liquid,
					userCommissionInCents: liquid,
				},
			},
		]);
		expect(bodiesAt(meta)).toEqual([
			{
				data: [
					{
						event_name: 'Purchase',
						event_id: hash,
						event_time: Date.parse(`${updated_at.replace(' ', 'T')}-03:00`) / 1000,
						action_source: 'system_generated',
						user_data: { em: [sha256(EMAIL)], ph: [sha256(WHATSAPP)] },
						custom_data: {
							currency: 'BRL',
							value: 19.9,
							order_id: hash,
							content_type: 'product',
							content_ids: [product?.hash],
						},
					},
				],
			},
		]);
		const [toUtmify, toMeta] = recipes.services.webCalls;
		expect(toUtmify?.headers.authorization).toBe('Bearer test-key-of-another');
		expect(toMeta?.url).toContain('access_token=test-token-of-meta');
	});

	test('errors-to-telegram tells the team which workflow failed, where and why', async () => {
		const teller = await publish('errors-to-telegram', undefined, language);

		await recipes.fail(teller);

		const [text] = await until('the message', () => told().length > 0 && told());
		expect(text).toMatch(/A failing workflow[^]*Fail here[^]*Out of stock &lt;b[^]*http/);
		// Telegram counts the characters after it has read the HTML.
		expect(String(text).replaceAll('&lt;', '<').length).toBeLessThan(4096);
	});

	test('access-by-http grants on paid, tells the customer, and revokes on a refund', async () => {
		const states = ['paid', 'pre_chargeback', 'chargeback'];
		const { hash } = await sell('access-by-http', states, language);

		const { url, body } = granted(hash);
		expect(recipes.services.webCalls).toMatchObject([
			{ url, body },
			{ url: url.replace('grant', 'revoke'), body },
		]);
		expect(recipes.services.mail.mails).toMatchObject([
			{ text: expect.stringMatching(say('is open 🎉.*maria@', 'está liberado 🎉.*maria@')) },
		]);
	});

	test('sell-and-deliver charges an order sent twice once, and its payment opens the access once', async () => {
		// The first offer of the catalog costs less than the lowest amount of the trigger.
		const offerHash = { __rl: true, mode: 'list', value: '' };
		const cart = { items: [{ offerHash, quantity: 1, price: '19,90' }] };
		const change: Change = ({ parameters }) =>
			parameters.operation === 'create' ? { parameters: { cart } } : undefined;
		const imported = await publish('sell-and-deliver', change, language);
		const before = recipes.sandbox.charges();
		const customer = newCustomer();

		for (const count of [1, 2]) {
			await imported.fillIn(customer);
			await imported.ended(count);
		}

		expect(recipes.sandbox.charges() - before).toBe(1);
		const { hash } = charged();
		const { webCalls, mail } = recipes.services;
		expect(mail.mails).toMatchObject(
			Array(2).fill({
				to: { text: EMAIL },
				html: expect.stringContaining(code()),
				attachments: [{ cid: 'qrCode', contentType: 'image/png' }],
			}),
		);
		expect(webCalls).toEqual([]);

		// Nobody else is told: the charge itself named the trigger of its workflow.
		await recipes.sandbox.pay(hash);
		await imported.ended(3);
		const url = imported.saleUrl;
		for (const shape of NOTICE_SHAPES) await recipes.sandbox.notify(hash, { shape, url });
		expect(webCalls).toMatchObject([granted(hash)]);
		expect(mail.mails[2]?.text).toContain(say('is open 🎉', 'está liberado 🎉'));

		await recipes.sandbox.setStatus(hash, 'refunded');
		await imported.ended(4);
		expect(webCalls[1]?.url).toContain('/access/revoke');
		expect(mail.mails).toHaveLength(3);
	});

	test('recover-checkout-pix sends the code of a PIX that is not paid after the pause, once', async () => {
		const imported = await waitForCheckout(language);
		await imported.ended();

		expect(sent()).toMatchObject([
			{
				to: { text: EMAIL },
				subject: expect.stringMatching(/PIX.*R\$/i),
				html: expect.stringContaining(code()),
				attachments: [{ cid: 'qrCode' }],
			},
		]);
		expect(await imported.runs()).toBe(1);
	});

	test('charge-list-from-google-sheets charges each row once, also where its row could not be written', async () => {
		const transaction = say('transaction', 'cobranca');
		const { rows, run } = await chargeList(language, [{}, { [transaction]: 'there before' }, {}]);
		const before = recipes.sandbox.charges();

		well(await run());

		const [first, last] = recipes.sandbox.transactions.slice(-2);
		expect(recipes.sandbox.charges() - before).toBe(2);
		expect(first?.amount).toBe(9700);
		expect(rows).toMatchObject([
			{
				[transaction]: first?.hash,
				status: 'waiting_payment',
				[say('pix_code', 'pix_copia_e_cola')]: first?.pix?.pix_qr_code,
			},
			{ [transaction]: 'there before' },
			{ [transaction]: last?.hash },
		]);

		Object.assign(rows[0] ?? {}, { [transaction]: '' });
		well(await run());
		expect(recipes.sandbox.charges() - before).toBe(2);
		expect(rows[0]).toMatchObject({ [transaction]: first?.hash });
	});

	test('catalog-to-google-sheets writes each offer once, however often it runs', async () => {
		const imported = await recipes.import('catalog-to-google-sheets', language);

		well(await imported.execute());
		const rows = recipes.services.rows(say('Catalog', 'Catálogo'));
		const count = rows.length;
		well(await imported.execute());

		const [product] = recipes.sandbox.products;
		const [offer] = product?.offers ?? [];
		expect(rows).toHaveLength(count);
		expect(rows).toContainEqual(
			expect.objectContaining({
				[say('code', 'codigo')]: offer?.hash,
				[say('product', 'produto')]: product?.title,
				[say('price', 'preco')]: (offer?.price ?? 0) / 100,
			}),
		);
	});

	test('reconciliation tells each change once, a lost webhook by its schedule', async () => {
		const { imported, over, charge } = await reconcile(language, 'none');
		const notify = async (hash: string, status: string): Promise<void> => {
			await recipes.sandbox.setStatus(hash, status);
			const url = imported.saleUrl;
			well(await over(async () => await recipes.sandbox.notify(hash, { url })));
		};
		const [noticed, lost, open] = [await charge(), await charge(), await charge()];

		well(await imported.execute());
		expect(told()).toEqual([]);
		await recipes.sandbox.setStatus(lost, 'paid');
		await notify(noticed, 'paid');
		expect(told()).toEqual([
			expect.stringMatching(`${salePaid}</b>: Maria da Silva, R\\$.*\\d[.,]\\d\\d\n${noticed}`),
		]);

		well(await imported.execute());
		well(await imported.execute());
		expect(told().slice(1)).toEqual([expect.stringMatching(`${salePaid}[^]*${lost}`)]);
		// The notice comes after all: nobody is told twice.
		await notify(lost, 'paid');
		await notify(open, 'refused');
		await notify(noticed, 'pre_chargeback');
		expect(told().slice(2)).toEqual([
			expect.stringMatching(`${say('Refused', 'Recusada')}[^]*${open}`),
			expect.stringMatching(`pre_chargeback[^]*${noticed}`),
		]);
	});

	test.each(['true', 'false'])(
		'ai-sales-assistant asks a person, who approves: %s',
		async (answer) => {
			const model: ModelServer = await serveModel();
			const before = recipes.sandbox.transactions.length;
			const [offer] = recipes.sandbox.products[0]?.offers ?? [];
			const email = `${randomUUID()}@example.test`;
			const toolParameters = {
				offer_hash: offer?.hash,
				quantity: 2,
				customer_name: 'Maria da Silva',
				customer_email: email,
				customer_phone: '(11) 91234-5678',
				customer_document: '529.982.247-25',
			};
			const [list, charge, check] = [
				say('List the products', 'Listar os produtos'),
				say('Charge by PIX', 'Gerar Pix'),
				say('Check the payment', 'Conferir o pagamento'),
			].map((name) => name.replace(/ /g, '_'));
			await recipes.addCredential('openAiApi', { apiKey: 'test-model-key', url: model.url });
			const imported = await publish('ai-sales-assistant', undefined, language);

			// The model does what it is asked to, and says what the last tool said.
			const messages = await imported.write(
				JSON.stringify([
					{ tool: list, args: { search: '' } },
					{ tool: charge, args: { toolParameters } },
				]),
			);
			const mail = await until('the mail', () => recipes.services.mail.mails[0]);
			expect(mail.subject).toBe(say('Approve a charge', 'Aprovar uma cobrança'));
			expect(mail.html).toContain(email);
			await imported.inState('waiting');
			expect(recipes.sandbox.transactions).toHaveLength(before);
			const link = [...mail.html.matchAll(/href="([^"]+)"/g)]
				.map(([, one = '']) => one.replaceAll('&amp;', '&'))
				.find((one) => one.includes(`approved=${answer}`));
			// n8n takes no answer from what calls itself a program: a mail scanner follows links, too.
			const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
			expect((await fetch(link ?? '', { headers })).status).toBe(200);
			const message = await until('the answer in the chat', () => messages[0]);
			await imported.ended();
			await model.close();

			expect(model.told).toMatchObject({
				[list ?? '']: ['search'],
				[check ?? '']: ['transaction_hash'],
			});
			const isApproved = answer === 'true';
			const made = recipes.sandbox.transactions.slice(before).map(({ amount }) => amount);
			expect(made).toEqual(isApproved ? [(offer?.price ?? 0) * 2] : []);
			expect(message).toContain(isApproved ? code() : 'rejected');
		},
	);
});

/** The two languages are the same workflow in other words (test/tools/package/recipes.test.ts). */
describe('The recipes', () => {
	const sorry = 'could not create the PIX';

	test.each<[string, string, string, Change?]>([
		['charge-by-whatsapp', WHATSAPP, sorry],
		['charge-by-whatsapp', WHATSAPP, 'order_received|', byTemplate],
		['charge-by-evolution-api', WHATSAPP, sorry],
		['charge-by-email', EMAIL, sorry],
		['sell-and-deliver', EMAIL, sorry],
		['recover-unpaid-pix', WHATSAPP, sorry],
	])(
		'%s tells %s of an order that cannot be charged, and fails with the reason',
		async (...[recipe, to, message, change]) => {
			const imported = await publish(recipe, change);
			const before = recipes.sandbox.charges();

			await imported.fillIn(customerWith(3, '529.982.247-26'));

			expect(await imported.over()).toMatchObject(notCharged);
			expect(recipes.sandbox.charges()).toBe(before);
			expect(sent()).toHaveLength(1);
			const words = JSON.stringify(sent());
			expect([to, message].filter((one) => !words.includes(one))).toEqual([]);
			expect(words).not.toContain('undefined');
		},
	);

	test('reconciliation fails with the reason if an order cannot be charged', async () => {
		const imported = await publish('reconciliation');

		await imported.fillIn(customerWith(3, '529.982.247-26'));

		expect(await imported.over()).toMatchObject(notCharged);
	});

	test('charge-by-whatsapp waits and confirms although a message could not be sent', async () => {
		recipes.services.down.add('Send the QR code');
		const imported = await order('charge-by-whatsapp');
		expect(sent()).toMatchObject([{ parameters: { textBody: code() } }]);

		await recipes.sandbox.pay(charged().hash);

		await imported.ended();
		expect(JSON.stringify(sent()[1])).toContain('Payment confirmed');
	});

	test('charge-by-email shows what a customer and a seller wrote as text', async () => {
		const [product] = recipes.sandbox.products;
		if (!product) throw new Error('There is no product');
		const { title } = product;
		product.title = 'Foto & <b>luz</b>';

		const customer = customerWith(0, 'Maria.https://evil.example da Silva');
		await order('charge-by-email', undefined, 'en', customer);
		product.title = title;

		const [mail] = recipes.services.mail.mails;
		expect(mail?.html).toContain('Hi, Mariahttpsevilexample!');
		expect(mail?.html).toContain('(Foto &amp; &lt;b>luz&lt;/b>)');
	});

	test('charge-by-whatsapp sends the PIX also if the service states no amount and no product', async () => {
		recipes.sandbox.addFault({
			kind: 'status',
			status: 201,
			endpoint: 'POST /transactions',
			body: {
				hash: 'no-amount',
				payment_status: 'waiting_payment',
				customer: { name: '🙂', phone_number: '11987654321' },
				pix: { pix_qr_code: 'the code' },
			},
		});
		await (await publish('charge-by-whatsapp')).fillIn(CUSTOMER);

		await until('both messages', () => sent().length === 2);
		const mediaCaption = expect.stringContaining(
			'Hi, there! Your PIX of the agreed amount (your order)',
		);
		expect(sent()).toMatchObject([
			{ parameters: { additionalFields: { mediaCaption } } },
			{ parameters: { textBody: 'the code' } },
		]);
	});

	test.each(['(011) 98765-4321', '+55 (11) 98765-4321'])(
		'charge-by-whatsapp writes to %s as WhatsApp dials it',
		async (phone) => {
			await order('charge-by-whatsapp', undefined, 'en', customerWith(2, phone));

			const parameters = { recipientPhoneNumber: WHATSAPP };
			expect(sent()).toMatchObject([{ parameters }, { parameters }]);
		},
	);

	test('charge-by-whatsapp says nothing of a payment that did not come', async () => {
		const imported = await order('charge-by-whatsapp', limit(2));

		await imported.ended();
		expect(sent()).toHaveLength(2);
	});

	test('charge-by-whatsapp fills the variables of the templates once they are activated', async () => {
		const imported = await order('charge-by-whatsapp', byTemplate);
		const [ready] = recipes.services.callsOf('whatsApp');
		const variables = JSON.stringify(ready?.components);
		expect(variables).toContain('Maria');
		expect(variables).toContain(code());

		await recipes.sandbox.pay(charged().hash);

		await imported.ended();
		expect(recipes.services.callsOf('whatsApp')).toMatchObject([
			{ template: 'pix_ready|en_US' },
			{ template: 'payment_confirmed|en_US' },
		]);
	});

	test.each([
		['2026-07-30T19:50:00', [730, 730, 1440, 1440]],
		['2026-07-30T03:00:00', [300, 300, 1740, 1740]],
	])('recover-unpaid-pix sends nothing at night: %s', async (time, minutes) => {
		const plan = 'Plan the next reminder';
		const imported = await order('recover-unpaid-pix', remindAt(time, plan));

		expect(minutesOf(await imported.ended(), plan, 'minutes')).toEqual(minutes);
	});

	test('recover-unpaid-pix stops the moment it is paid', async () => {
		const imported = await order('recover-unpaid-pix', limit(5));
		const texts = () => recipes.services.callsOf('whatsApp').map(({ textBody }) => textBody);
		await until('the first reminder', () => texts().length === 4);

		await recipes.sandbox.pay(charged().hash);

		await imported.ended();
		expect(texts().slice(4)).toEqual([expect.stringContaining('Payment confirmed')]);
		expect(told()).toEqual([]);
	});

	test('paid-sale saves the contact though the spreadsheet fails, and a Retry writes the row', async () => {
		const { imported, hash } = await sell('paid-sale', []);
		recipes.services.down.add('googleSheets');
		await recipes.sandbox.setStatus(hash, 'paid');
		const failed = await imported.over();
		expect(failed.error).toBeDefined();
		expect(recipes.services.callsOf('hubspot')).toHaveLength(1);

		recipes.services.down.clear();
		await imported.retry(failed);

		expect(recipes.services.rows('Sales')).toMatchObject([{ status: 'paid' }]);
		expect(recipes.services.callsOf('hubspot')).toHaveLength(1);
	});

	test('paid-sale follows every status in one row if its trigger does', async () => {
		const states = ['paid', 'pre_chargeback', 'refunded'];
		await sell('paid-sale', states, 'en', forTrigger(['any']));

		expect(recipes.services.rows('Sales')).toMatchObject([{ status: 'refunded' }]);
		expect(recipes.services.callsOf('googleSheets')).toHaveLength(states.length);
		expect(recipes.services.callsOf('hubspot')).toHaveLength(1);
		expect(told().at(-1)).toContain('Refunded');
	});

	test('ad-attribution tells UTMify alone what is paid back, and nothing that is under review', async () => {
		const { hash } = await sell('ad-attribution', ['paid', 'pre_chargeback', 'chargeback']);

		const { created_at, updated_at } = charged();
		const createdAt = utc(created_at);
		expect(bodiesAt(UTMIFY)).toMatchObject([
			{ orderId: hash, status: 'paid', createdAt },
			{ orderId: hash, status: 'chargedback', createdAt, refundedAt: utc(updated_at) },
		]);
		expect(bodiesAt('https://graph.facebook.com/')).toHaveLength(1);
	});

	test('ad-attribution does not send UTMify an order that is too old for it', async () => {
		const { imported, hash } = await sell('ad-attribution', []);
		charged().created_at = '2026-01-01 10:00:00';

		await recipes.sandbox.setStatus(hash, 'paid');
		await imported.ended();

		expect(bodiesAt(UTMIFY)).toEqual([]);
		expect(bodiesAt('https://graph.facebook.com/')).toHaveLength(1);
	});

	// n8n publishes its form all the same.
	test('sell-and-deliver charges nobody while its trigger cannot be published', async () => {
		const imported = await recipes.import('sell-and-deliver', 'en', forTrigger([]));
		await expect(imported.publish()).rejects.toThrow('Trigger On');
		await until('the form', async () => await imported.form().catch(() => undefined));
		const before = recipes.sandbox.charges();

		await imported.fillIn(CUSTOMER);

		expect((await imported.over()).error).toContain('its Digital Sales Trigger is not published');
		expect(recipes.sandbox.charges()).toBe(before);
	});

	test('recover-checkout-pix sends nothing at night', async () => {
		const name = 'Wait 30 minutes';
		const { type, typeVersion, parameters } = editFields(name, {});
		const planned: Change = (node) => {
			if (node.name !== name) return undefined;
			const late = "DateTime.fromISO('2026-07-30T19:50:00')";
			const value = String(node.parameters.amount).replaceAll('$now', late);
			const assignments = [{ id: name, name: 'minutes', value, type: 'number' }];
			return { type, typeVersion, parameters: { ...parameters, assignments: { assignments } } };
		};

		const [item] = (await (await waitForCheckout('en', planned)).ended()).items(name);

		expect(item?.json.minutes).toBe(730);
	});

	test('recover-checkout-pix sends the template once it is activated', async () => {
		const on: Change = ({ type }) => (type === 'whatsApp' ? { disabled: false } : undefined);
		await (await waitForCheckout('en', on)).ended();

		const [call] = recipes.services.callsOf('whatsApp');
		expect(call).toMatchObject({
			recipientPhoneNumber: WHATSAPP,
			template: 'pix_open|en_US',
		});
		expect(JSON.stringify(call?.components)).toContain(code());
	});

	test.each(['paid', 'expired'])(
		'recover-checkout-pix leaves alone a sale that is %s',
		async (status) => {
			const imported = await waitForCheckout();
			charged().payment_status = status;
			await imported.ended();

			expect(sent()).toEqual([]);
		},
	);

	test('charge-list-from-google-sheets says in the row what is missing or wrong, and charges the others', async () => {
		const wrong = [{ document: '' }, { document: '52998224726' }];
		const { rows, run } = await chargeList('en', [...wrong, {}]);

		well(await run());

		expect(rows).toMatchObject([
			{ status: 'Fill in document and run it again' },
			{ status: expect.stringMatching(/CPF/) },
			{ transaction: charged().hash, status: 'waiting_payment' },
		]);
		expect(rows.filter((row) => 'transaction' in row)).toHaveLength(1);
	});

	test('charge-list-from-google-sheets says in the row what to do about a charge in doubt', async () => {
		const { rows, run } = await chargeList('en', [{}]);
		recipes.sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

		for (const said of [
			/^The customer may already .*dashboard/,
			/set Options > Code to Charge Again to \w+/,
		]) {
			well(await run());
			expect(rows).toMatchObject([{ status: expect.stringMatching(said) }]);
		}
	});

	test('charge-list-from-google-sheets writes beside the right customer if the sheet is sorted meanwhile', async () => {
		const { rows, run } = await chargeList('en', [{}, { email: `${randomUUID()}@example.test` }]);
		const [first, last] = rows;
		recipes.services.afterRead = (read) => void read.reverse();

		well(await run());

		const [made, next] = recipes.sandbox.transactions.slice(-2);
		expect([first, last]).toMatchObject([{ transaction: made?.hash }, { transaction: next?.hash }]);
	});

	test('charge-list-from-google-sheets charges neither of two rows with the same order', async () => {
		const { rows, run } = await chargeList('en', [{ order: 'twice' }, { order: ' twice' }]);
		const before = recipes.sandbox.charges();

		well(await run());

		expect(recipes.sandbox.charges()).toBe(before);
		const status = expect.stringContaining('an order of its own');
		expect(rows).toMatchObject([{ status }, { status }]);
	});

	test('charge-list-from-google-sheets says what to do with an empty sheet', async () => {
		const { run } = await chargeList('en', []);

		expect((await run()).error).toContain('"Charges" has no row to charge');
	});

	test('reconciliation tells once, in a later run, what could not be told of an order that was sent twice', async () => {
		const { imported, over, charge } = await reconcile();
		const customer = newCustomer();
		recipes.services.down.add('telegram');
		const hash = await charge(customer);
		expect(await charge(customer)).toBe(hash);
		const failed = await over(async () => await recipes.sandbox.setStatus(hash, 'paid'));
		expect(failed.error).toBeDefined();
		expect((await imported.execute()).error).toBeDefined();

		recipes.services.down.clear();
		well(await imported.execute());
		well(await imported.execute());

		expect(told()).toEqual([expect.stringContaining(hash)]);
	});
});
