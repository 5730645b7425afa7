import { createHash, randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import { RECIPES } from '../../examples/source';
import { render, type Language } from '../../examples/source/workflow';
import type { Execution } from '../helpers/n8n/execution';
import { NOTICE_SHAPES, type Sandbox } from '../sandbox';
import type { StoredTransaction } from '../sandbox/types';
import { chargeAt, cpf } from '../helpers/charge';
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
	return into('waitForPayment', { options: { timeLimit, timeLimitUnit: 'minutes' } });
};
/** In place of `$now`, whatever the time of this machine. */
const BY_DAY = "DateTime.fromISO('2026-07-30T10:00')";

/** Imports a recipe and publishes it. */
const publish = async (
	recipe: string,
	change?: Change,
	language: Language = 'en',
): Promise<ImportedRecipe> => {
	const imported = await recipes.import(recipe, language, change);
	await imported.publish();
	return imported;
};

/** A customer orders by the form of a recipe, which then waits for the payment. */
const order = async (recipe: string, customer = CUSTOMER) => {
	const imported = await publish(recipe);
	await imported.fillIn(customer);
	await imported.inState('waiting');
	return imported;
};

/** Publishes a recipe that sales start, and notifies it of a sale in each of the given states. */
const sell = async (recipe: string, states: string[]) => {
	const imported = await publish(recipe);
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

/** Notifies recover-checkout-pix of an unpaid sale, without its pause. */
const waitForCheckout = async (): Promise<ImportedRecipe> => {
	const pause = into('wait', { amount: 2, unit: 'seconds' });
	const imported = await publish('recover-checkout-pix', pause);
	const hash = await chargeAt(sandbox, imported.saleUrl, TRACKING);
	await sandbox.notify(hash, { url: imported.saleUrl });
	return imported;
};

/** reconciliation, and functions that charge a customer and wait for the execution that a step starts. */
const reconcile = async () => {
	const imported = await publish('reconciliation');
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
const chargeList = async (more: Row[]) => {
	const rows = more.map((cells) => ({
		order: randomUUID(),
		name: NAME,
		email: EMAIL,
		phone: '11987654321',
		document: '52998224725',
		price: '97,00',
		...cells,
	}));
	services.sheets.set('Charges', rows);
	const imported = await recipes.import('charge-list-from-google-sheets');
	return { rows, run: async () => await imported.execute() };
};

/** The recipes with a form that send by a service of the user, and wait for the payment. */
const WAITING = [
	'charge-by-email',
	'charge-by-whatsapp',
	'charge-by-evolution-api',
	'recover-unpaid-pix',
];

/** The two languages are the same workflow in other words (test/tools/package/recipes.test.ts). */
describe('The recipes', () => {
	test.each(['payment-page', 'sell-and-deliver', 'reconciliation', ...WAITING])(
		'%s shows a PIX by Execute workflow once its first step is done',
		async (recipe) => {
			const imported = await recipes.importToTry(recipe);
			await imported.executeForm();

			expect(await imported.fillIn(newCustomer())).toContain('Your PIX is ready');

			expect(made()).toHaveLength(1);
			expect(sent()).toEqual([]);
		},
	);

	/** The part of the page after the form that is not hidden. */
	const shown = (page: string): unknown =>
		[...page.matchAll(/<main id="(\w+)" >/g)].map(([, id]) => id);

	test('payment-page shows the PIX and, on the same page, the payment', async () => {
		const imported = await publish('payment-page');
		const customer = newCustomer();
		expect(shown(await imported.fillIn(customer))).toEqual(['pix']);
		await imported.inState('waiting');

		await sandbox.pay(charged().hash);

		await imported.ended();
		expect(shown(await imported.reload())).toEqual(['paid']);
		expect(shown(await imported.fillIn(customer))).toEqual(['received']);
		await imported.ended(2);
		expect(shown(await imported.reload())).toEqual(['paid']);
		expect(made()).toHaveLength(1);
		expect(await imported.runs()).toBe(2);
	});

	const caption = expect.stringMatching('^Hi, Maria! .* R\\$');
	// Recipes use each phone as WhatsApp dials it.
	test.each<[string, string, () => unknown[]]>([
		[
			'charge-by-email',
			CUSTOMER.phone,
			() => [pixMail(expect.stringMatching('^Your PIX of R\\$'))],
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
		const imported = await order(recipe, { ...CUSTOMER, phone });
		const expected = messages();
		expect(sent()).toMatchObject(expected);
		expect(JSON.stringify(sent())).toContain('Hi, Maria!');

		await sandbox.pay(charged().hash);

		await imported.ended();
		const [confirmation, ...more] = sent().slice(expected.length);
		const confirmed = 'Payment confirmed';
		expect(JSON.stringify(confirmation)).toContain(confirmed);
		expect(more).toEqual([]);
	});

	test('recover-unpaid-pix reminds three times, then informs the team', async () => {
		const imported = await publish('recover-unpaid-pix', (node) => {
			if (node.name !== 'Plan the next reminder') return overAtOnce()(node);
			const text = JSON.stringify(node.parameters).replaceAll('$now', BY_DAY);
			return { parameters: JSON.parse(text) as INodeParameters };
		});
		await imported.fillIn(CUSTOMER);
		const planned = (await imported.ended()).items('Plan the next reminder');
		expect(planned.map(({ json }) => Number(json.minutes))).toEqual([15, 180, 1440, 1440]);

		const messages = services.callsOf('whatsApp');
		expect(messages.slice(1, -1).map(({ textBody }) => textBody)).toEqual([
			code(),
			expect.stringContaining('is still open'),
			code(),
			expect.stringContaining('is almost done'),
			code(),
		]);
		// A day later, WhatsApp accepts only a template.
		const template = 'last_reminder|en_US';
		expect(messages.at(-1)).toMatchObject({ template });
		expect(JSON.stringify(messages.at(-1))).toContain(code());
		expect(told()).toEqual([expect.stringMatching(/Maria[^]*R\$/)]);
	});

	test('paid-sale writes one row and one contact a sale, and informs a CRM and the team', async () => {
		const imported = await sell('paid-sale', ['paid']);
		const { hash } = charged();
		for (const shape of NOTICE_SHAPES) await sandbox.notify(hash, { shape });

		const sale = 'sale';
		const row = { [sale]: hash, status: 'paid', email: EMAIL, utm_source: 'instagram' };
		expect(services.rows('Sales')).toMatchObject([{ ...row, amount: 19.9 }]);
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
		const text = `<b>Sale paid</b>[^]*R\\$\\s?19[.,]90[^]*${NAME}[^]*maria@`;
		expect(services.callsOf('telegram')).toMatchObject([
			{
				text: expect.stringMatching(text),
				additionalFields: { appendAttribution: false, parse_mode: 'HTML' },
			},
		]);
		expect(await imported.runs()).toBe(1);
	});

	test('ad-attribution reports a paid sale to UTMify and Meta', async () => {
		await sell('ad-attribution', ['paid']);

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
		const meta = `${META}YOUR-PIXEL-ID/events`;
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
		await recipes.fail(await publish('errors-to-telegram'));

		const [text] = await until('the message', () => told().length > 0 && told());
		expect(text).toMatch(/A failing workflow[^]*Fail here[^]*Out of stock &lt;b[^]*http/);
		// Telegram counts the characters after it has read the HTML.
		expect(String(text).replaceAll('&lt;', '<').length).toBeLessThan(4096);
	});

	test('access-by-http grants access on paid, informs the customer, and revokes it on a refund', async () => {
		await sell('access-by-http', ['paid', 'pre_chargeback', 'chargeback']);

		const { url, body } = granted();
		expect(services.webCalls).toMatchObject([
			{ url, body },
			{ url: url.replace('grant', 'revoke'), body },
		]);
		expect(services.mail.mails).toMatchObject([
			{ text: expect.stringMatching('is open 🎉.*maria@') },
		]);
	});

	test('sell-and-deliver charges an order once even if it is sent twice, and its payment grants access once', async () => {
		// The first offer of the catalog costs less than the lowest amount of the trigger.
		const offerHash = { __rl: true, mode: 'list', value: '' };
		const cart = { items: [{ offerHash, quantity: 1, price: '19,90' }] };
		const imported = await publish('sell-and-deliver', into('create', { cart }));
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
		expect(mail.mails[2]?.text).toContain('is open 🎉');

		await sandbox.setStatus(hash, 'refunded');
		await imported.ended(4);
		expect(webCalls[1]?.url).toContain('/access/revoke');
		expect(mail.mails).toHaveLength(3);
	});

	test('recover-checkout-pix sends the code once if a PIX is not paid after the pause', async () => {
		const imported = await waitForCheckout();
		await imported.ended();

		expect(sent()).toMatchObject([pixMail(expect.stringMatching(/PIX.*R\$/i))]);
		expect(await imported.runs()).toBe(1);
	});

	test('charge-list-from-google-sheets charges each row once, even if the row could not be written', async () => {
		const transaction = 'transaction';
		const there = { [transaction]: 'there before' };
		const { rows, run } = await chargeList([{}, there, {}]);

		well(await run());

		const [first, last] = made();
		expect(made()).toHaveLength(2);
		expect(first?.amount).toBe(9700);
		const pixCode = 'pix_code';
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
		const imported = await recipes.import('catalog-to-google-sheets');

		well(await imported.execute());
		const rows = services.rows('Catalog');
		const count = rows.length;
		well(await imported.execute());

		const [product] = sandbox.products;
		const [offer] = product?.offers ?? [];
		expect(rows).toHaveLength(count);
		expect(rows).toContainEqual(
			expect.objectContaining({
				code: offer?.hash,
				product: product?.title,
				price: (offer?.price ?? 0) / 100,
			}),
		);
	});

	test('reconciliation reports each change of a charge once', async () => {
		const { over, charge } = await reconcile();
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
			expect.stringMatching(`Sale paid</b>: ${NAME}, R\\$.*\\d[.,]\\d\\d\n${first}`),
			expect.stringMatching(`Refused[^]*${second}`),
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
				'List the products',
				'Charge by PIX',
				'Check the payment',
			].map((name) => name.replace(/ /g, '_'));
			await recipes.addCredential('openAiApi', { apiKey: 'test-model-key', url: model.url });
			const imported = await publish('ai-sales-assistant');

			// The model makes the requested calls, and repeats the answer of the last tool.
			const calls = [
				{ tool: list, args: { search: '' } },
				{ tool: charge, args: { toolParameters } },
			];
			const messages = await imported.write(JSON.stringify(calls));
			const mail = await until('the mail', () => services.mail.mails[0]);
			expect(mail.subject).toBe('Approve a charge');
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

	test('charge-by-email shows HTML and links from a customer or seller as plain text', async () => {
		const [product] = sandbox.products;
		if (!product) throw new Error('There is no product');
		const { title } = product;
		product.title = 'Foto & <b>luz</b>';

		const name = 'Maria.https://evil.example da Silva';
		await order('charge-by-email', { ...CUSTOMER, name });
		product.title = title;

		const [mail] = services.mail.mails;
		expect(mail?.html).toContain('Hi, Mariahttpsevilexample!');
		expect(mail?.html).toContain('(Foto &amp; &lt;b>luz&lt;/b>)');
	});

	test('recover-unpaid-pix stops its reminders when the PIX is paid', async () => {
		const imported = await publish('recover-unpaid-pix', overAtOnce(0));
		await imported.fillIn(CUSTOMER);
		const texts = () => services.callsOf('whatsApp').map(({ textBody }) => textBody);
		await until('the first reminder', () => texts().length === 4);
		await imported.inState('waiting');

		await sandbox.pay(charged().hash);

		await imported.ended();
		expect(texts().slice(4)).toEqual([expect.stringContaining('Payment confirmed')]);
		expect(told()).toEqual([]);
	});

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
