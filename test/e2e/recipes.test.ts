import { createHash, randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import { RECIPES } from '../../examples/source';
import { LANGUAGES, render, sayIn, type Language } from '../../examples/source/workflow';
import type { Execution } from '../helpers/n8n/execution';
import { NOTICE_SHAPES, type Sandbox } from '../sandbox';
import type { StoredTransaction } from '../sandbox/types';
import { chargeAt, cpf } from '../helpers/charge';
import { readQrCode } from '../helpers/readQrCode';
import { until } from '../helpers/until';
import { serveModel } from '../helpers/e2e/models';
import { RecipeStage, well, type Change, type ImportedRecipe } from '../helpers/e2e/recipeStage';
import type { Row, Services } from '../helpers/e2e/services';

const NAME = 'Maria da Silva';
const EMAIL = 'maria@example.test';
const WHATSAPP = '5511987654321';
/** What a customer fills into an order form, field by field. */
const CUSTOMER = { name: NAME, email: EMAIL, phone: '(11) 98765-4321', document: '529.982.247-25' };
type Customer = typeof CUSTOMER;
const WITHOUT_CPF = { ...CUSTOMER, document: '529.982.247-26' };
let customers = 200_000_000;
const newCustomer = (): Customer => ({ ...CUSTOMER, document: cpf((customers += 1)) });
const UTM = { utm_source: 'instagram', utm_medium: 'cpc', utm_campaign: 'black-friday' };
const TRACKING = { tracking: { ...UTM, utm_content: 'video', utm_term: 'curso' } };

let recipes: RecipeStage;
let sandbox: Sandbox;
let services: Services;
let chargesBefore = 0;

beforeAll(async () => {
	recipes = await RecipeStage.open();
	({ sandbox, services } = recipes);
});
beforeEach(() => {
	recipes.clear();
	chargesBefore = sandbox.charges();
});
afterAll(async () => await recipes?.close());

/** The transactions that the test has made. */
const made = (): StoredTransaction[] => sandbox.transactions.slice(chargesBefore);
/** The last transaction of the test. */
const charged = (): StoredTransaction => {
	const transaction = made().at(-1);
	if (!transaction) throw new Error('Nothing was charged');
	return transaction;
};
const code = (transaction = charged()): string => transaction.pix?.pix_qr_code ?? '';
/** All messages to customers, by mail or otherwise. */
const sent = (): unknown[] => [...services.mail.mails, ...services.calls, ...services.webCalls];
const told = (): unknown[] => services.callsOf('telegram').map(({ text }) => text);
const bodiesAt = (address: string): unknown[] =>
	services.webCalls.filter(({ url }) => url.startsWith(address)).map(({ body }) => body);

/** The mail with the picture and the code of the charge. */
const pixMail = (subject: unknown = expect.anything()): unknown => ({
	to: { text: EMAIL },
	subject,
	html: expect.stringContaining(code()),
	attachments: [{ cid: 'qrCode', contentType: 'image/png' }],
});

/** Puts parameters into the nodes of a type, or of an operation. */
const into =
	(kind: string, parameters: INodeParameters): Change =>
	(node) =>
		[node.type, node.parameters.operation].includes(kind) ? { parameters } : undefined;
/** A time limit that ends at the first look at the payment, in the given round of the node or in each. */
const overAtOnce = (round?: number): Change => {
	const timeLimit = round === undefined ? 1e-9 : `={{ $runIndex === ${round} ? 1e-9 : 60 }}`;
	return into('waitForPayment', { timeLimit, timeLimitUnit: 'minutes' });
};
const forTrigger = (triggerOn: string[]): Change => into('digitalSalesTrigger', { triggerOn });
/** As the notes say: the nodes with a template activated, the other WhatsApp nodes deactivated. */
const byTemplate: Change = ({ type, disabled }) =>
	type === 'whatsApp' ? { disabled: !disabled } : undefined;
/** The same parameters, evaluated at another time of day. */
const at = (time: string, parameters: INodeParameters): INodeParameters => {
	const text = JSON.stringify(parameters).replaceAll('$now', `DateTime.fromISO('${time}')`);
	return JSON.parse(text) as INodeParameters;
};

/** The language of the imported recipe, and the changes to it. */
type Choice = [language?: Language, change?: Change];

/** Imports a recipe and publishes it. */
const publish = async (recipe: string, ...choice: Choice): Promise<ImportedRecipe> => {
	const imported = await recipes.import(recipe, ...choice);
	await imported.publish();
	return imported;
};

/** A customer orders by the form of a recipe, which then waits for the payment. */
const order = async (recipe: string, choice: Choice = [], customer = CUSTOMER) => {
	const imported = await publish(recipe, ...choice);
	await imported.fillIn(customer);
	await imported.inState('waiting');
	return imported;
};

/** Publishes a recipe that sales start, and notifies it of a sale in each of the given states. */
const sell = async (recipe: string, states: string[], ...choice: Choice) => {
	const imported = await publish(recipe, ...choice);
	const hash = await chargeAt(sandbox, imported.saleUrl, TRACKING);
	for (const [index, state] of states.entries()) {
		await sandbox.setStatus(hash, state);
		await imported.ended(index + 1);
	}
	return imported;
};

const granted = () => ({
	url: 'https://members.example.com/api/access/grant',
	body: { email: EMAIL, transaction: charged().hash },
});

const UTMIFY = 'https://api.utmify.com.br/api-credentials/orders';
const META = 'https://graph.facebook.com/v25.0/';
/** A time of the platform, in Sao Paulo. */
const timeOf = (time = ''): Date => new Date(`${time.replace(' ', 'T')}-03:00`);
/** The same time in the format of UTMify. */
const utc = (time?: string): string => timeOf(time).toISOString().slice(0, 19).replace('T', ' ');

/** Runs recover-unpaid-pix as at a time of day but without waits, and returns the planned minutes. */
const remind = async (time: string, language: Language = 'en'): Promise<number[]> => {
	const say = sayIn(language);
	const plan = say('Plan the next reminder', 'Planejar o próximo lembrete');
	const change: Change = (node) => {
		if (node.name !== plan) return overAtOnce()(node);
		return { parameters: at(`2026-07-30T${time}`, node.parameters) };
	};
	const imported = await publish('recover-unpaid-pix', language, change);
	await imported.fillIn(CUSTOMER);
	const planned = (await imported.ended()).items(plan);
	return planned.map(({ json }) => Number(json[say('minutes', 'minutos')]));
};

/** Notifies recover-checkout-pix of an unpaid sale at a time of day. It must plan to wait this many minutes. */
const waitForCheckout = async (
	language?: Language,
	change?: Change,
	[time, minutes] = ['10:00', 30],
): Promise<ImportedRecipe> => {
	const imported = await publish('recover-checkout-pix', language, (node) => {
		if (node.type !== 'wait') return change?.(node);
		const planned = String(at(`2026-07-30T${time}`, node.parameters).amount);
		const isRight = `={{ $1 === ${minutes} ? 2 : 'not as planned: ' + $1 }}`;
		const amount = planned.replace(/^=\{\{(.*)\}\}$/, isRight);
		return { parameters: { amount, unit: 'seconds' } };
	});
	const hash = await chargeAt(sandbox, imported.saleUrl, TRACKING);
	await sandbox.notify(hash, { url: imported.saleUrl });
	return imported;
};

/** reconciliation, and functions that charge a customer and wait for the execution that a step starts. */
const reconcile = async (language?: Language) => {
	const imported = await publish('reconciliation', language);
	const { rest } = recipes.stage;
	const { id: workflowId } = imported.workflow;
	const over = async (step: () => Promise<unknown>): Promise<Execution> =>
		await rest.ended(await rest.startedBy(workflowId, step));
	const charge = async (customer = newCustomer()): Promise<string> => {
		const started = await rest.startedBy(workflowId, async () => await imported.fillIn(customer));
		await until('the charge is waited for', async () =>
			(await rest.executions(workflowId)).some(
				({ id, status }) => id === started && status === 'waiting',
			),
		);
		return charged().hash;
	};
	return { imported, over, charge };
};

/** charge-list-from-google-sheets with rows of a sheet, each with an order. */
const chargeList = async (more: Row[], language: Language = 'en') => {
	const say = sayIn(language);
	const rows = more.map((cells) => ({
		[say('order', 'pedido')]: randomUUID(),
		[say('name', 'nome')]: NAME,
		email: EMAIL,
		[say('phone', 'telefone')]: '11987654321',
		[say('document', 'documento')]: '52998224725',
		[say('price', 'preco')]: '97,00',
		...cells,
	}));
	services.sheets.set(say('Charges', 'Cobrar'), rows);
	const imported = await recipes.import('charge-list-from-google-sheets', language);
	return { rows, run: async () => await imported.execute() };
};

describe.each(LANGUAGES)('The recipes in %s', (language) => {
	const say = sayIn(language);
	const salePaid = say('Sale paid', 'Venda aprovada');

	test('the order form is in the language of the recipe to its last page, which shows the PIX', async () => {
		const imported = await publish('sell-and-deliver', language);
		expect(await imported.form()).toContain(say('Get my PIX', 'Gerar meu Pix'));

		const page = await imported.fillIn(newCustomer());

		expect(page).toContain(say('Your PIX is ready', 'Seu Pix está pronto'));
		expect(page).toContain(code());
		expect(page).toMatch(/R\$\s?\d+[.,]\d\d/);
		const [, base64 = ''] = /src="data:image\/png;base64,([^"]+)"/.exec(page) ?? [];
		expect(readQrCode(Buffer.from(base64, 'base64'))).toBe(code());
		await imported.ended();
	});

	test.each<[string, Partial<Customer>, string]>([
		['CPF', { document: '529.982.247-26' }, say('your CPF or CNPJ', 'seu CPF ou CNPJ')],
		['phone', { phone: '(11) 91234-56' }, say('your WhatsApp', 'seu WhatsApp')],
	])('a typo in the %s leads to a page that says so and links back, no mail', async (...row) => {
		const [, typo, field] = row;
		const imported = await publish('charge-by-email', language);

		const page = await imported.fillIn({ ...newCustomer(), ...typo });

		expect(page).toContain(`${say('Please check', 'Confira')} ${field}`);
		expect(page).toContain(`/form/${imported.formPath}?`);
		expect(page).toContain(`email=${encodeURIComponent(EMAIL)}`);
		await imported.ended();
		expect([...made(), ...sent()]).toEqual([]);
	});

	const caption = expect.stringMatching(say('^Hi, Maria! .* R\\$', '^Oi, Maria! .* R\\$'));
	// Recipes use each phone as WhatsApp dials it.
	test.each<[string, string, () => unknown[]]>([
		[
			'charge-by-email',
			CUSTOMER.phone,
			() => [pixMail(expect.stringMatching(say('^Your PIX of R\\$', '^Seu Pix de R\\$')))],
		],
		[
			'charge-by-whatsapp',
			'(011) 98765-4321',
			() => [
				{
					files: ['qrCode'],
					parameters: {
						recipientPhoneNumber: WHATSAPP,
						mediaPropertyName: 'qrCode',
						additionalFields: { mediaCaption: caption },
					},
				},
				{ parameters: { recipientPhoneNumber: WHATSAPP, textBody: code() } },
			],
		],
		[
			'charge-by-evolution-api',
			'+55 (11) 98765-4321',
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
	])('%s sends the picture and the code, and confirms the payment', async (...row) => {
		const [recipe, phone, messages] = row;
		const imported = await order(recipe, [language], { ...CUSTOMER, phone });
		const expected = messages();
		expect(sent()).toMatchObject(expected);
		expect(JSON.stringify(sent())).toContain(say('Hi, Maria!', 'Oi, Maria!'));

		await sandbox.pay(charged().hash);

		await imported.ended();
		const [confirmation, ...more] = sent().slice(expected.length);
		const confirmed = say('Payment confirmed', 'Pagamento confirmado');
		expect(JSON.stringify(confirmation)).toContain(confirmed);
		expect(more).toEqual([]);
	});

	test('recover-unpaid-pix reminds three times, then informs the team', async () => {
		expect(await remind('10:00', language)).toEqual([15, 180, 1440, 1440]);

		const messages = services.callsOf('whatsApp');
		expect(messages.slice(1, -1).map(({ textBody }) => textBody)).toEqual([
			code(),
			expect.stringContaining(say('is still open', 'ainda está em aberto')),
			code(),
			expect.stringContaining(say('is almost done', 'está quase lá')),
			code(),
		]);
		// A day later, WhatsApp accepts only a template.
		const template = say('last_reminder|en_US', 'ultimo_lembrete|pt_BR');
		expect(messages.at(-1)).toMatchObject({ template });
		expect(JSON.stringify(messages.at(-1))).toContain(code());
		expect(told()).toEqual([expect.stringMatching(/Maria[^]*R\$/)]);
	});

	test('paid-sale writes one row and one contact a sale, and informs a CRM and the team', async () => {
		const imported = await sell('paid-sale', ['paid'], language);
		const { hash } = charged();
		for (const shape of NOTICE_SHAPES) await sandbox.notify(hash, { shape });

		const sale = say('sale', 'venda');
		const row = { [sale]: hash, status: 'paid', email: EMAIL, utm_source: 'instagram' };
		expect(services.rows(say('Sales', 'Vendas'))).toMatchObject([
			{ ...row, [say('amount', 'valor')]: 19.9 },
		]);
		expect(services.callsOf('googleSheets')).toMatchObject([
			{ options: { cellFormat: 'RAW', useAppend: true } },
		]);
		expect(services.callsOf('hubspot')).toMatchObject([
			{ email: EMAIL, additionalFields: { firstName: 'Maria', lastName: 'da Silva' } },
		]);
		const authorization = 'Bearer test-key-of-another';
		expect(services.webCalls).toMatchObject([
			{
				method: 'POST',
				url: 'https://crm.example.com/api/sales',
				headers: { authorization, 'idempotency-key': `${hash}-paid` },
				body: { [sale]: hash, utm_term: 'curso' },
			},
		]);
		const text = `<b>${salePaid}</b>[^]*R\\$\\s?19[.,]90[^]*${NAME}[^]*maria@`;
		expect(services.callsOf('telegram')).toMatchObject([
			{
				text: expect.stringMatching(text),
				additionalFields: { appendAttribution: false, parse_mode: 'HTML' },
			},
		]);
		expect(await imported.runs()).toBe(1);
	});

	test('ad-attribution reports a paid sale to UTMify and Meta', async () => {
		await sell('ad-attribution', ['paid'], language);

		const { hash, amount, amount_liquid: liquid, ...sale } = charged();
		expect(sale.payment_status).toBe('paid');
		const [product] = sandbox.products;
		const [offer] = product?.offers ?? [];
		const [phone, document] = ['11987654321', '52998224725'];
		expect(bodiesAt(UTMIFY)).toEqual([
			{
				orderId: hash,
				platform: 'DigitalSales',
				paymentMethod: 'pix',
				status: 'paid',
				createdAt: utc(sale.created_at),
				approvedDate: utc(sale.updated_at),
				refundedAt: null,
				customer: { name: NAME, email: EMAIL, phone, document },
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
		const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
		const meta = `${META}${say('YOUR-PIXEL-ID', 'ID-DO-SEU-PIXEL')}/events`;
		expect(bodiesAt(meta)).toEqual([
			{
				data: [
					{
						event_name: 'Purchase',
						event_id: hash,
						event_time: timeOf(sale.updated_at).getTime() / 1000,
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
		const [toUtmify, toMeta] = services.webCalls;
		expect(toUtmify?.headers.authorization).toBe('Bearer test-key-of-another');
		expect(toMeta?.url).toContain('access_token=test-token-of-meta');
	});

	test('errors-to-telegram informs the team which workflow failed, where and why', async () => {
		await recipes.fail(await publish('errors-to-telegram', language));

		const [text] = await until('the message', () => told().length > 0 && told());
		expect(text).toMatch(/A failing workflow[^]*Fail here[^]*Out of stock &lt;b[^]*http/);
		// Telegram counts the characters after it has read the HTML.
		expect(String(text).replaceAll('&lt;', '<').length).toBeLessThan(4096);
	});

	test('access-by-http grants access on paid, informs the customer, and revokes it on a refund', async () => {
		await sell('access-by-http', ['paid', 'pre_chargeback', 'chargeback'], language);

		const { url, body } = granted();
		expect(services.webCalls).toMatchObject([
			{ url, body },
			{ url: url.replace('grant', 'revoke'), body },
		]);
		expect(services.mail.mails).toMatchObject([
			{ text: expect.stringMatching(say('is open 🎉.*maria@', 'está liberado 🎉.*maria@')) },
		]);
	});

	test('sell-and-deliver charges an order once even if it is sent twice, and its payment grants access once', async () => {
		// The first offer of the catalog costs less than the lowest amount of the trigger.
		const offerHash = { __rl: true, mode: 'list', value: '' };
		const cart = { items: [{ offerHash, quantity: 1, price: '19,90' }] };
		const imported = await publish('sell-and-deliver', language, into('create', { cart }));
		const { webCalls, mail } = services;
		const customer = newCustomer();

		for (const count of [1, 2]) {
			await imported.fillIn(customer);
			await imported.ended(count);
		}
		expect(made()).toHaveLength(1);
		expect(mail.mails).toMatchObject([pixMail(), pixMail()]);
		expect(webCalls).toEqual([]);

		// No other workflow is notified, because the charge named the trigger of its own workflow.
		const { hash } = charged();
		await sandbox.pay(hash);
		await imported.ended(3);
		const url = imported.saleUrl;
		for (const shape of NOTICE_SHAPES) await sandbox.notify(hash, { shape, url });
		expect(webCalls).toMatchObject([granted()]);
		expect(mail.mails[2]?.text).toContain(say('is open 🎉', 'está liberado 🎉'));

		await sandbox.setStatus(hash, 'refunded');
		await imported.ended(4);
		expect(webCalls[1]?.url).toContain('/access/revoke');
		expect(mail.mails).toHaveLength(3);
	});

	test('recover-checkout-pix sends the code once if a PIX is not paid after the pause', async () => {
		const imported = await waitForCheckout(language);
		await imported.ended();

		expect(sent()).toMatchObject([pixMail(expect.stringMatching(/PIX.*R\$/i))]);
		expect(await imported.runs()).toBe(1);
	});

	test('charge-list-from-google-sheets charges each row once, even if the row could not be written', async () => {
		const transaction = say('transaction', 'cobranca');
		const there = { [transaction]: 'there before' };
		const { rows, run } = await chargeList([{}, there, {}], language);

		well(await run());

		const [first, last] = made();
		expect(made()).toHaveLength(2);
		expect(first?.amount).toBe(9700);
		const pixCode = say('pix_code', 'pix_copia_e_cola');
		expect(rows).toMatchObject([
			{ [transaction]: first?.hash, status: 'waiting_payment', [pixCode]: code(first) },
			there,
			{ [transaction]: last?.hash },
		]);

		Object.assign(rows[0] ?? {}, { [transaction]: '' });
		well(await run());
		expect(made()).toHaveLength(2);
		expect(rows[0]).toMatchObject({ [transaction]: first?.hash });
	});

	test('catalog-to-google-sheets writes each offer once, however often it runs', async () => {
		const imported = await recipes.import('catalog-to-google-sheets', language);

		well(await imported.execute());
		const rows = services.rows(say('Catalog', 'Catálogo'));
		const count = rows.length;
		well(await imported.execute());

		const [product] = sandbox.products;
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

	test('reconciliation reports each change of a charge once', async () => {
		const { over, charge } = await reconcile(language);
		const change = async (hash: string, status: string): Promise<void> => {
			well(await over(async () => await sandbox.setStatus(hash, status)));
		};
		const customer = newCustomer();
		const [first, second] = [await charge(customer), await charge()];
		await charge(customer);
		expect(made()).toHaveLength(2);

		await change(first, 'paid');
		await change(second, 'refused');
		await change(first, 'pre_chargeback');

		expect(told()).toEqual([
			expect.stringMatching(`${salePaid}</b>: ${NAME}, R\\$.*\\d[.,]\\d\\d\n${first}`),
			expect.stringMatching(`${say('Refused', 'Recusada')}[^]*${second}`),
			expect.stringMatching(`pre_chargeback[^]*${first}`),
		]);
	});

	test.each([true, false])(
		'ai-sales-assistant charges only if the person who is asked approves (approved: %s)',
		async (isApproved) => {
			const model = await serveModel();
			const [offer] = sandbox.products[0]?.offers ?? [];
			const email = `${randomUUID()}@example.test`;
			const toolParameters = {
				offer_hash: offer?.hash,
				quantity: 2,
				customer_name: NAME,
				customer_email: email,
				customer_phone: CUSTOMER.phone,
				customer_document: CUSTOMER.document,
			};
			const [list = '', charge = '', check = ''] = [
				say('List the products', 'Listar os produtos'),
				say('Charge by PIX', 'Gerar Pix'),
				say('Check the payment', 'Conferir o pagamento'),
			].map((name) => name.replace(/ /g, '_'));
			await recipes.addCredential('openAiApi', { apiKey: 'test-model-key', url: model.url });
			const imported = await publish('ai-sales-assistant', language);

			// The model makes the requested calls, and repeats the answer of the last tool.
			const calls = [
				{ tool: list, args: { search: '' } },
				{ tool: charge, args: { toolParameters } },
			];
			const messages = await imported.write(JSON.stringify(calls));
			const mail = await until('the mail', () => services.mail.mails[0]);
			expect(mail.subject).toBe(say('Approve a charge', 'Aprovar uma cobrança'));
			expect(mail.html).toContain(email);
			await imported.inState('waiting');
			expect(made()).toEqual([]);
			const [, link = ''] = mail.html.match(`href="([^"]+approved=${isApproved}[^"]*)"`) ?? [];
			// n8n ignores clients that identify as programs, because mail scanners follow links, too.
			const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
			const pressed = await fetch(link.replaceAll('&amp;', '&'), { headers });
			expect(pressed.status).toBe(200);
			const message = await until('the answer in the chat', () => messages[0]);
			await imported.ended();
			await model.close();

			expect(model.told).toMatchObject({ [list]: ['search'], [check]: ['transaction_hash'] });
			const amounts = isApproved ? [(offer?.price ?? 0) * 2] : [];
			expect(made().map(({ amount }) => amount)).toEqual(amounts);
			expect(message).toContain(isApproved ? code() : 'rejected');
		},
	);
});

/** The two languages are the same workflow in other words (test/tools/package/recipes.test.ts). */
describe('The recipes', () => {
	// test/browser/recipes.test.ts shows what else the editor marks.
	test('use nodes in versions that n8n has', async () => {
		const types = await recipes.stage.rest.nodeTypes();
		const used = Object.entries(RECIPES).flatMap(([name, recipe]) =>
			render(recipe, name, 'en').nodes.map((node) => `${node.type} ${node.typeVersion}`),
		);

		expect(
			types.flatMap(({ name, version }) => [version].flat().map((one) => `${name} ${one}`)),
		).toEqual(expect.arrayContaining(used));
	});

	test.each([
		...['charge-by-whatsapp', 'charge-by-evolution-api', 'charge-by-email', 'sell-and-deliver'],
		...['recover-unpaid-pix', 'reconciliation'],
	])('%s shows the PIX on the page, or what is wrong with the form', async (recipe) => {
		const imported = await publish(recipe);

		expect(await imported.fillIn(newCustomer())).toContain(code());
		const page = await imported.fillIn(WITHOUT_CPF);

		expect(page).toContain('Please check your CPF or CNPJ');
		expect(page).not.toContain('undefined');
		await imported.ended(2);
		expect(made()).toHaveLength(1);
	});

	test('charge-by-email fails for the team if nothing in the form is at fault', async () => {
		sandbox.addFault({ kind: 'status', status: 401, endpoint: 'POST /transactions', body: {} });
		const imported = await publish('charge-by-email');

		const page = await imported.fillIn(newCustomer());

		expect(page).toContain('Your PIX could not be created');
		expect((await imported.over()).error).toContain('does not accept');
	});

	test('charge-by-email asks the customer to wait if the outcome of the charge is unknown', async () => {
		sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });
		const imported = await publish('charge-by-email');

		const page = await imported.fillIn(newCustomer());

		expect(page).toContain('You need not send the form again: we will contact you.');
		expect((await imported.over()).error).toContain('may');
	});

	test.each([
		['+51 912 345 678', '51912345678'],
		['00 351 912 345 678', '351912345678'],
		['+1 (415) 555-2671', '14155552671'],
		['＋51 912 345 678', '51912345678'],
		['+55 (0) 11 98765-4321', WHATSAPP],
		['11 8765-4321', WHATSAPP],
		['551187654321@s.whatsapp.net', WHATSAPP],
	])('charge-by-whatsapp writes to a customer with the number %s at %s', async (phone, number) => {
		await order('charge-by-whatsapp', [], { ...newCustomer(), phone });

		const numbers = services.callsOf('whatsApp').map((call) => call.recipientPhoneNumber);
		expect(new Set(numbers)).toEqual(new Set([number]));
	});

	test('charge-by-whatsapp waits and confirms even if a message could not be sent', async () => {
		services.down.add('Send the QR code');
		const imported = await order('charge-by-whatsapp');
		expect(sent()).toMatchObject([{ parameters: { textBody: code() } }]);

		await sandbox.pay(charged().hash);

		await imported.ended();
		expect(JSON.stringify(sent()[1])).toContain('Payment confirmed');
	});

	test('charge-by-email shows HTML and links from a customer or seller as plain text', async () => {
		const [product] = sandbox.products;
		if (!product) throw new Error('There is no product');
		const { title } = product;
		product.title = 'Foto & <b>luz</b>';

		const name = 'Maria.https://evil.example da Silva';
		await order('charge-by-email', [], { ...CUSTOMER, name });
		product.title = title;

		const [mail] = services.mail.mails;
		expect(mail?.html).toContain('Hi, Mariahttpsevilexample!');
		expect(mail?.html).toContain('(Foto &amp; &lt;b>luz&lt;/b>)');
	});

	test('charge-by-whatsapp sends the PIX even if the service states no amount and no product', async () => {
		sandbox.addFault({
			kind: 'patchBody',
			endpoint: 'POST /transactions',
			remove: ['amount', 'product', 'offer'],
			set: { customer: { name: '🙂', phone_number: CUSTOMER.phone } },
		});
		await order('charge-by-whatsapp');

		const words = 'Hi, there! Your PIX of the agreed amount (your order)';
		expect(sent()).toMatchObject([
			{ parameters: { additionalFields: { mediaCaption: expect.stringContaining(words) } } },
			{ parameters: { textBody: code() } },
		]);
	});

	test('charge-by-whatsapp sends nothing more if the payment does not come', async () => {
		const imported = await publish('charge-by-whatsapp', 'en', overAtOnce());

		await imported.fillIn(CUSTOMER);

		await imported.ended();
		expect(sent()).toHaveLength(2);
	});

	test('charge-by-whatsapp fills the variables of the templates once they are activated', async () => {
		const imported = await order('charge-by-whatsapp', ['en', byTemplate]);
		const variables = JSON.stringify(services.callsOf('whatsApp')[0]?.components);
		expect(variables).toContain('Maria');
		expect(variables).toContain(code());

		await sandbox.pay(charged().hash);

		await imported.ended();
		expect(services.callsOf('whatsApp')).toMatchObject([
			{ template: 'pix_ready|en_US' },
			{ template: 'payment_confirmed|en_US' },
		]);
	});

	test.each([
		['19:50', [730, 730, 1440, 1440]],
		['03:00', [300, 300, 1740, 1740]],
	])('recover-unpaid-pix sends nothing at night: %s', async (time, minutes) => {
		expect(await remind(time)).toEqual(minutes);
	});

	test('recover-unpaid-pix stops its reminders when the PIX is paid', async () => {
		const imported = await publish('recover-unpaid-pix', 'en', overAtOnce(0));
		await imported.fillIn(CUSTOMER);
		const texts = () => services.callsOf('whatsApp').map(({ textBody }) => textBody);
		await until('the first reminder', () => texts().length === 4);
		await imported.inState('waiting');

		await sandbox.pay(charged().hash);

		await imported.ended();
		expect(texts().slice(4)).toEqual([expect.stringContaining('Payment confirmed')]);
		expect(told()).toEqual([]);
	});

	test('paid-sale saves the contact even if the spreadsheet fails, and a Retry writes the row', async () => {
		const imported = await sell('paid-sale', []);
		services.down.add('googleSheets');
		await sandbox.setStatus(charged().hash, 'paid');
		const failed = await imported.over();
		expect(failed.error).toBeDefined();
		expect(services.callsOf('hubspot')).toHaveLength(1);

		services.down.clear();
		await imported.retry(failed);

		expect(services.rows('Sales')).toMatchObject([{ status: 'paid' }]);
		expect(services.callsOf('hubspot')).toHaveLength(1);
	});

	test('paid-sale updates its row with every status that its trigger is set to', async () => {
		const states = ['paid', 'pre_chargeback', 'refunded'];
		await sell('paid-sale', states, 'en', forTrigger(['any']));

		expect(services.rows('Sales')).toMatchObject([{ status: 'refunded' }]);
		expect(services.callsOf('googleSheets')).toHaveLength(states.length);
		expect(services.callsOf('hubspot')).toHaveLength(1);
		expect(told().at(-1)).toContain('Refunded');
	});

	test('ad-attribution reports refused and charged back sales only to UTMify, and other statuses to nobody', async () => {
		await sell('ad-attribution', ['refused', 'expired', 'paid', 'pre_chargeback', 'chargeback']);

		const { hash, created_at, updated_at } = charged();
		const shared = { orderId: hash, createdAt: utc(created_at) };
		expect(bodiesAt(UTMIFY)).toMatchObject([
			{ ...shared, status: 'refused', approvedDate: null, refundedAt: null },
			{ ...shared, status: 'paid' },
			{ ...shared, status: 'chargedback', refundedAt: utc(updated_at) },
		]);
		expect(bodiesAt(META)).toHaveLength(1);
	});

	test('ad-attribution reports old sales to UTMify, but not a payment of more than a week ago to Meta', async () => {
		const imported = await sell('ad-attribution', []);
		await sandbox.notify(charged().hash, { url: imported.saleUrl });
		await imported.ended();
		const longAgo = '2026-01-01 10:00:00';
		sandbox.addFault({
			kind: 'patchBody',
			endpoint: 'GET /transactions/{hash}',
			set: { created_at: longAgo, updated_at: longAgo, amount_liquid: 0 },
			times: 'always',
		});
		Object.assign(charged().customer, { phone_number: '' });

		for (const [index, status] of ['paid', 'refunded'].entries()) {
			await sandbox.setStatus(charged().hash, status);
			await imported.ended(index + 2);
		}

		const late = { createdAt: utc(longAgo), customer: { phone: null } };
		const commission = { gatewayFeeInCents: 0, userCommissionInCents: charged().amount };
		expect(bodiesAt(UTMIFY)).toMatchObject([
			{ status: 'waiting_payment', approvedDate: null, refundedAt: null },
			{ ...late, status: 'paid', commission, approvedDate: utc(longAgo) },
			{ ...late, status: 'refunded', refundedAt: utc(longAgo) },
		]);
		expect(bodiesAt(META)).toEqual([]);
	});

	// n8n publishes the form of the recipe anyway.
	test('sell-and-deliver charges nobody while its trigger cannot be published', async () => {
		const imported = await recipes.import('sell-and-deliver', 'en', forTrigger([]));
		await expect(imported.publish()).rejects.toThrow('Trigger On');
		await until('the form', async () => await imported.form().catch(() => undefined));

		await imported.fillIn(CUSTOMER);

		expect((await imported.over()).error).toContain('its Digital Sales Trigger is not published');
		expect(made()).toEqual([]);
	});

	// The platform may remove the + of a foreign number.
	test.each([
		['+351 912 345 678', '351912345678'],
		['14155552671', undefined],
		['351912345678', undefined],
		['', undefined],
	])('recipes for sales use the phone %j as %s for Meta and WhatsApp', async (...row) => {
		const [phone, dialed] = row;
		const on: Change = ({ type }) => (type === 'whatsApp' ? { disabled: false } : undefined);
		sandbox.addFault({
			kind: 'patchBody',
			endpoint: 'GET /transactions/{hash}',
			set: { customer: { name: NAME, email: EMAIL, phone_number: phone } },
			times: 'always',
		});

		await sell('ad-attribution', ['paid']);
		await (await waitForCheckout('en', on)).ended();

		const hashes = (dialed === undefined ? [] : [dialed]).map((number) =>
			createHash('sha256').update(number).digest('hex'),
		);
		expect(bodiesAt(META)).toMatchObject([{ data: [{ user_data: { ph: hashes } }] }]);
		expect(services.callsOf('whatsApp').map((call) => call.recipientPhoneNumber)).toEqual(
			dialed === undefined ? [] : [dialed],
		);
		expect(services.mail.mails).toHaveLength(1);
	});

	test('recover-checkout-pix sends nothing at night', async () => {
		await (await waitForCheckout('en', undefined, ['19:50', 730])).ended();

		expect(sent()).toHaveLength(1);
	});

	test('recover-checkout-pix sends the template once it is activated', async () => {
		const on: Change = ({ type }) => (type === 'whatsApp' ? { disabled: false } : undefined);
		await (await waitForCheckout('en', on)).ended();

		const [call] = services.callsOf('whatsApp');
		expect(call).toMatchObject({ recipientPhoneNumber: WHATSAPP, template: 'pix_open|en_US' });
		expect(JSON.stringify(call?.components)).toContain(code());
	});

	test.each(['paid', 'expired'])(
		'recover-checkout-pix sends nothing for a sale that is %s',
		async (status) => {
			const imported = await waitForCheckout();
			charged().payment_status = status;
			await imported.ended();

			expect(sent()).toEqual([]);
		},
	);

	test('charge-list-from-google-sheets says in the row what is missing or wrong, and charges the others', async () => {
		const wrong = [{ document: '' }, { document: '52998224726' }];
		const { rows, run } = await chargeList([...wrong, {}]);

		well(await run());

		expect(rows).toMatchObject([
			{ status: 'Fill in document and run it again' },
			{ status: expect.stringMatching(/CPF/) },
			{ transaction: charged().hash, status: 'waiting_payment' },
		]);
		expect(rows.filter((row) => 'transaction' in row)).toHaveLength(1);
	});

	test('charge-list-from-google-sheets says in the row what to do about a charge in doubt', async () => {
		const { rows, run } = await chargeList([{}]);
		sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

		for (const said of [
			/^The customer may already .*Look for it on your platform/,
			/Options > Charges in Doubt > Add Decision/,
		]) {
			well(await run());
			expect(rows).toMatchObject([{ status: expect.stringMatching(said) }]);
		}
	});

	test('charge-list-from-google-sheets writes to the row of the customer even if the sheet is sorted during the run', async () => {
		const { rows, run } = await chargeList([{}, { email: `${randomUUID()}@example.test` }]);
		const [first, last] = rows;
		services.afterRead = (read) => void read.reverse();

		well(await run());

		const hashes = made().map(({ hash }) => ({ transaction: hash }));
		expect([first, last]).toMatchObject(hashes);
	});

	test('charge-list-from-google-sheets charges neither of two rows with the same order', async () => {
		const { rows, run } = await chargeList([{ order: 'twice' }, { order: ' twice' }]);

		well(await run());

		expect(made()).toEqual([]);
		const status = expect.stringContaining('an order of its own');
		expect(rows).toMatchObject([{ status }, { status }]);
	});

	test('charge-list-from-google-sheets says what to do with an empty sheet', async () => {
		const { run } = await chargeList([]);

		expect((await run()).error).toContain('"Charges" has no row to charge');
	});

	test('reconciliation reports once each change that its trigger could not report or did not receive', async () => {
		const { imported, over, charge } = await reconcile();
		const untold = await charge();
		services.down.add('telegram');
		const failed = await over(async () => await sandbox.setStatus(untold, 'paid'));
		expect(failed.error).toBeDefined();
		services.down.clear();
		const unheard = await charge();
		sandbox.addFault({ kind: 'lostNotice' });
		await sandbox.setStatus(unheard, 'paid');

		// n8n's timer counts in minutes.
		await until('both are told', () => told().length === 2, { withinMs: 200_000 });
		sandbox.clearFaults();
		well(await over(async () => await sandbox.notify(unheard, { url: imported.saleUrl })));

		expect(told().sort()).toEqual(
			[untold, unheard].sort().map((hash) => expect.stringContaining(hash)),
		);
	}, 240_000);
});
