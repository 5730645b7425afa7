import { createHash, randomUUID } from 'node:crypto';
import { NodeHelpers, type INodeTypeDescription } from 'n8n-workflow';
import { RECIPES } from '../../../examples/source';
import { editFields } from '../../../examples/source/nodes';
import { LANGUAGES, render, sayIn } from '../../../examples/source/workflow';
import type { SavedWorkflow } from '../n8n/rest';
import { NOTICE_SHAPES } from '../../sandbox';
import { chargeAt, cpf } from '../../support/charge';
import { type ModelServer, serveModel } from './stage/models';
import {
	RecipeStage,
	until,
	well,
	type Change,
	type ImportedRecipe,
	type Turn,
} from './stage/recipeStage';

const CUSTOMER = ['Maria da Silva', 'maria@example.test', '(11) 98765-4321', '529.982.247-25'];
/** The same with one field filled in differently. */
const customerWith = (field: number, value: string): string[] =>
	CUSTOMER.map((was, index) => (index === field ? value : was));
const WHATSAPP = '5511987654321';
const TRACKING = {
	tracking: {
		utm_source: 'instagram',
		utm_medium: 'cpc',
		utm_campaign: 'black-friday',
		utm_content: 'video',
		utm_term: 'curso',
	},
};

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

describe.each(LANGUAGES)('The recipes in %s', (language) => {
	const say = sayIn(language);

	/** Has a customer order by the form of a recipe, up to its wait for the payment. */
	const order = async (recipe: string, change?: Change, turn?: Turn): Promise<ImportedRecipe> => {
		const imported = await recipes.import(recipe, language, change, turn);
		await imported.publish();
		await imported.fillIn(CUSTOMER);
		await imported.inState('waiting');
		return imported;
	};

	/** Publishes a recipe that sales start, and has a sale told to it in each of the given states. */
	const sell = async (recipe: string, ...states: string[]): Promise<[ImportedRecipe, string]> => {
		const imported = await recipes.import(recipe, language);
		const url = await imported.publish();
		const hash = await chargeAt(recipes.sandbox, url, TRACKING);
		for (const [index, state] of states.entries()) {
			await recipes.sandbox.setStatus(hash, state);
			await imported.ended(index + 1);
		}
		return [imported, hash];
	};

	const salePaid = say('Sale paid', 'Venda aprovada');
	const confirmed = say('Payment confirmed', 'Pagamento confirmado');
	const notCharged = say('could not create the PIX', 'não conseguimos gerar o Pix');

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
		const imported = await recipes.import('charge-by-email', language);
		await imported.publish();

		const page = await imported.form();

		expect(page).toContain(say('Get my PIX', 'Gerar meu Pix'));
		expect(page).toContain(say('You need not send the form again', 'Não precisa enviar de novo'));
	});

	const refused = customerWith(3, '529.982.247-26');

	/** As its note says: the nodes with a template activated, the other WhatsApp nodes deactivated. */
	const byTemplate: Turn = (node) =>
		node.type.endsWith('.whatsApp') ? { ...node, disabled: !node.disabled } : node;

	/** Everything that customers were sent. */
	const sent = (): string => {
		const { calls, webCalls, mail } = recipes.services;
		return JSON.stringify([calls, webCalls, mail.mails.map(({ to, html }) => [to, html])]);
	};

	test.each([
		['charge-by-whatsapp', WHATSAPP, notCharged],
		['charge-by-whatsapp', WHATSAPP, say('order_received|', 'pedido_recebido|'), byTemplate],
		['charge-by-evolution-api', WHATSAPP, notCharged],
		['charge-by-email', 'maria@example.test', notCharged],
		['sell-and-deliver', 'maria@example.test', notCharged],
		['recover-unpaid-pix', WHATSAPP, notCharged],
	])(
		'%s tells the customer of an order that cannot be charged, and fails with the reason',
		async (...given: [recipe: string, to: string, message: string, turn?: Turn]) => {
			const [recipe, to, message, turn] = given;
			const imported = await recipes.import(recipe, language, undefined, turn);
			await imported.publish();
			const before = recipes.sandbox.charges();

			await imported.fillIn(refused);

			const { error } = await imported.over();
			expect(error).toMatch(/CPF.*Nothing was sent/s);
			expect(recipes.sandbox.charges()).toBe(before);
			expect(sent()).toContain(to);
			expect(sent()).toContain(message);
			expect(sent()).not.toContain('undefined');
			const { calls, webCalls, mail } = recipes.services;
			expect(calls.length + webCalls.length + mail.mails.length).toBe(1);
		},
	);

	test('reconciliation fails with the reason if an order cannot be charged', async () => {
		const imported = await recipes.import('reconciliation', language);
		await imported.publish();

		await imported.fillIn(refused);

		expect((await imported.over()).error).toMatch(/CPF.*Nothing was sent/s);
	});

	test('charge-by-whatsapp waits and confirms although a message could not be sent', async () => {
		recipes.services.down.add(say('Send the QR code', 'Enviar o QR Code'));
		const imported = await order('charge-by-whatsapp');
		const { hash, pix } = charged();
		const { calls } = recipes.services;
		expect(calls).toMatchObject([{ parameters: { textBody: pix?.pix_qr_code } }]);

		await recipes.sandbox.pay(hash);

		await imported.ended();
		expect(calls[1]?.parameters.textBody).toContain(confirmed);
	});

	test.each<[string, Change]>([
		['charge-by-whatsapp', () => undefined],
		['charge-by-email', () => ({ options: { attachments: 'missing' } })],
		['charge-by-evolution-api', () => ({ url: 'http://127.0.0.1:1' })],
	])('%s fails if the PIX cannot be sent', async (recipe, broken) => {
		const sends = [say('Send the PIX', 'Enviar o Pix'), say('Send the code', 'Enviar o código')];
		recipes.services.down.add(say('Send the code', 'Enviar o código'));
		const imported = await recipes.import(recipe, language, (node) =>
			sends.includes(node.name) ? broken(node) : undefined,
		);
		await imported.publish();

		await imported.fillIn(CUSTOMER);

		const { error, lastNode } = await imported.over();
		expect([error, sends]).toEqual([expect.any(String), expect.arrayContaining([lastNode])]);
	});

	test('charge-by-email shows what a customer and a seller wrote as text', async () => {
		const imported = await recipes.import('charge-by-email', language);
		await imported.publish();
		const [product] = recipes.sandbox.products;
		if (!product) throw new Error('There is no product');
		const { title } = product;
		product.title = 'Foto & <b>luz</b>';

		await imported.fillIn(customerWith(0, 'Maria.https://evil.example da Silva'));
		await imported.inState('waiting');
		product.title = title;

		const [mail] = recipes.services.mail.mails;
		expect(mail?.html).toContain(say('Hi, Mariahttpsevilexample!', 'Oi, Mariahttpsevilexample!'));
		expect(mail?.html).toContain('(Foto &amp; &lt;b>luz&lt;/b>)');
	});

	test('charge-by-whatsapp sends the PIX also if the service states no amount and no product', async () => {
		await order('charge-by-whatsapp');
		const code = charged().pix?.pix_qr_code;
		recipes.clear();
		recipes.sandbox.addFault({
			kind: 'status',
			status: 201,
			endpoint: 'POST /transactions',
			body: {
				hash: 'no-amount',
				payment_status: 'waiting_payment',
				customer: { name: '🙂', phone_number: '11987654321' },
				pix: { pix_qr_code: code },
			},
		});
		const imported = await recipes.import('charge-by-whatsapp', language);
		await imported.publish();

		await imported.fillIn(CUSTOMER);

		const { calls } = recipes.services;
		await until('both messages', () => (calls.length === 2 ? true : undefined));
		expect(calls[0]?.parameters).toMatchObject({
			additionalFields: {
				mediaCaption: expect.stringContaining(
					say(
						'Hi, there! Your PIX of the agreed amount (your order)',
						'Oi, cliente! Seu Pix de valor combinado (seu pedido)',
					),
				),
			},
		});
		expect(calls[1]?.parameters).toMatchObject({ textBody: code });
	});

	test.each(['(011) 98765-4321', '+55 (11) 98765-4321', '11 98765-4321'])(
		'charge-by-whatsapp writes to %s as WhatsApp dials it',
		async (phone) => {
			const imported = await recipes.import('charge-by-whatsapp', language);
			await imported.publish();

			await imported.fillIn(customerWith(2, phone));
			await imported.inState('waiting');

			const numbers = recipes.services.calls.map(({ parameters }) => parameters);
			expect(numbers).toMatchObject([
				{ recipientPhoneNumber: WHATSAPP },
				{ recipientPhoneNumber: WHATSAPP },
			]);
		},
	);

	test('charge-by-email sends the picture and the code, and confirms what is paid', async () => {
		const imported = await order('charge-by-email');
		const { mails } = recipes.services.mail;
		const { hash, pix } = charged();

		expect(mails).toMatchObject([
			{
				to: { text: 'maria@example.test' },
				subject: expect.stringMatching(say('^Your PIX of R\\$', '^Seu Pix de R\\$')),
				html: expect.stringContaining(pix?.pix_qr_code ?? ''),
				attachments: [{ cid: 'qrCode', contentType: 'image/png' }],
			},
		]);
		expect(mails[0]?.html).toContain(say('Hi, Maria!', 'Oi, Maria!'));

		await recipes.sandbox.pay(hash);
		await imported.ended();
		expect(mails).toHaveLength(2);
		expect(mails[1]?.html).toContain(confirmed);
	});

	test('charge-by-whatsapp sends the picture, then the code alone, and confirms what is paid', async () => {
		const imported = await order('charge-by-whatsapp');
		const { hash, pix } = charged();
		const { calls } = recipes.services;

		expect(calls).toMatchObject([
			{
				files: ['qrCode'],
				parameters: {
					recipientPhoneNumber: WHATSAPP,
					mediaPropertyName: 'qrCode',
					additionalFields: {
						mediaCaption: expect.stringMatching(say('^Hi, Maria! .* R\\$', '^Oi, Maria! .* R\\$')),
					},
				},
			},
			{ parameters: { recipientPhoneNumber: WHATSAPP, textBody: pix?.pix_qr_code } },
		]);

		await recipes.sandbox.pay(hash);
		await imported.ended();
		expect(calls).toHaveLength(3);
		expect(calls[2]?.parameters.textBody).toContain(confirmed);
	});

	test('charge-by-whatsapp says nothing of a payment that did not come', async () => {
		const imported = await order('charge-by-whatsapp', ({ parameters }) =>
			parameters.operation === 'waitForPayment'
				? { timeLimit: 2, timeLimitUnit: 'seconds' }
				: undefined,
		);

		await imported.ended();
		expect(recipes.services.calls).toHaveLength(2);
	});

	test('charge-by-whatsapp fills the variables of the templates once they are activated', async () => {
		const imported = await order('charge-by-whatsapp', undefined, byTemplate);
		const { hash, pix } = charged();
		const variables = (index: number) =>
			JSON.stringify(recipes.services.calls[index]?.parameters.components);

		expect(variables(0)).toContain('Maria');
		expect(variables(0)).toContain(pix?.pix_qr_code);
		await recipes.sandbox.pay(hash);
		await imported.ended();
		expect(recipes.services.callsOf('whatsApp')).toMatchObject([
			{ template: say('pix_ready|en_US', 'pix_pronto|pt_BR') },
			{ template: say('payment_confirmed|en_US', 'pagamento_confirmado|pt_BR') },
		]);
	});

	test('charge-by-evolution-api sends the picture, then the code alone, and confirms what is paid', async () => {
		const imported = await order('charge-by-evolution-api');
		const { hash, pix } = charged();
		const { webCalls } = recipes.services;

		expect(webCalls).toMatchObject([
			{
				url: expect.stringContaining('https://evolution.example.com/message/sendMedia/'),
				body: {
					number: WHATSAPP,
					mediatype: 'image',
					file: 'image/png',
				},
			},
			{
				url: expect.stringContaining('/message/sendText/'),
				body: { number: WHATSAPP, text: pix?.pix_qr_code },
			},
		]);
		await recipes.sandbox.pay(hash);
		await imported.ended();
		expect(webCalls).toHaveLength(3);
		expect(webCalls[2]?.body).toMatchObject({ text: expect.stringContaining(confirmed) });
	});

	describe('recover-unpaid-pix', () => {
		const quick: Change = ({ parameters }) =>
			parameters.operation === 'waitForPayment'
				? { timeLimit: 2, timeLimitUnit: 'seconds' }
				: undefined;
		const plan = say('Plan the next reminder', 'Planejar o próximo lembrete');
		const minutes = say('minutes', 'minutos');
		/** The same at another time of day. */
		const at =
			(time: string): Change =>
			(node) =>
				node.name === plan
					? (JSON.parse(
							JSON.stringify(node.parameters).replaceAll('$now', `DateTime.fromISO('${time}')`),
						) as typeof node.parameters)
					: quick(node);
		const planned = async (imported: ImportedRecipe): Promise<number[]> =>
			(await imported.ended()).items(plan).map(({ json }) => Number(json[minutes]));

		test('reminds three times, then tells the team', async () => {
			const imported = await order('recover-unpaid-pix', at('2026-07-30T10:00:00'));

			expect(await planned(imported)).toEqual([15, 180, 1440, 1440]);
			const messages = recipes.services.callsOf('whatsApp');
			const code = charged().pix?.pix_qr_code;
			expect(messages.slice(1, -1).map(({ textBody }) => textBody)).toEqual([
				code,
				expect.stringContaining(say('is still open', 'ainda está em aberto')),
				code,
				expect.stringContaining(say('is almost done', 'está quase lá')),
				code,
			]);
			// A day later, WhatsApp takes only a template.
			expect(messages.at(-1)).toMatchObject({
				template: say('last_reminder|en_US', 'ultimo_lembrete|pt_BR'),
			});
			expect(JSON.stringify(messages.at(-1))).toContain(code);
			expect(recipes.services.callsOf('telegram')).toMatchObject([
				{ text: expect.stringMatching(/Maria[^]*R\$/) },
			]);
		});

		test('sends nothing at night', async () => {
			const late = await order('recover-unpaid-pix', at('2026-07-30T19:50:00'));
			const early = await order('recover-unpaid-pix', at('2026-07-30T03:00:00'));

			expect(await planned(late)).toEqual([730, 730, 1440, 1440]);
			expect(await planned(early)).toEqual([300, 300, 1740, 1740]);
		});

		test('stops the moment it is paid', async () => {
			const imported = await order('recover-unpaid-pix', ({ parameters }) =>
				parameters.operation === 'waitForPayment'
					? { timeLimit: 5, timeLimitUnit: 'seconds' }
					: undefined,
			);
			await until('the first reminder', () =>
				recipes.services.callsOf('whatsApp').length === 4 ? true : undefined,
			);
			await recipes.sandbox.pay(charged().hash);

			await imported.ended();
			const texts = recipes.services.callsOf('whatsApp').map(({ textBody }) => textBody);
			expect(texts).toHaveLength(5);
			expect(texts[4]).toContain(confirmed);
			expect(recipes.services.callsOf('telegram')).toEqual([]);
		});
	});

	describe('paid-sale', () => {
		const tab = say('Sales', 'Vendas');

		test('writes one row and one contact a sale, and tells a CRM and the team', async () => {
			const [imported, hash] = await sell('paid-sale', 'paid');
			for (const shape of NOTICE_SHAPES) await recipes.sandbox.notify(hash, { shape });

			expect(recipes.services.rows(tab)).toMatchObject([
				{
					[say('sale', 'venda')]: hash,
					status: 'paid',
					[say('amount', 'valor')]: 19.9,
					email: 'maria@example.test',
					utm_source: 'instagram',
				},
			]);
			expect(recipes.services.callsOf('hubspot')).toMatchObject([
				{
					email: 'maria@example.test',
					additionalFields: { firstName: 'Maria', lastName: 'da Silva' },
				},
			]);
			expect(recipes.services.callsOf('googleSheets')).toMatchObject([
				{ options: { cellFormat: 'RAW', useAppend: true } },
			]);
			expect(recipes.services.webCalls).toMatchObject([
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
			expect(recipes.services.callsOf('telegram')).toMatchObject([
				{
					text: expect.stringMatching(
						`<b>${salePaid}</b>[^]*R\\$\\s?19[.,]90[^]*Maria da Silva[^]*maria@`,
					),
					additionalFields: { appendAttribution: false, parse_mode: 'HTML' },
				},
			]);
			expect(await imported.runs()).toBe(1);
		});

		test('saves the contact though the spreadsheet fails, and a Retry writes the row', async () => {
			const imported = await recipes.import('paid-sale', language);
			const hash = await chargeAt(recipes.sandbox, await imported.publish(), TRACKING);
			recipes.services.down.add('googleSheets');
			await recipes.sandbox.setStatus(hash, 'paid');
			const failed = await imported.over();
			expect(failed.error).toBeDefined();
			expect(recipes.services.callsOf('hubspot')).toHaveLength(1);

			recipes.services.down.clear();
			await imported.retry(failed);

			expect(recipes.services.rows(tab)).toMatchObject([{ status: 'paid' }]);
			expect(recipes.services.callsOf('hubspot')).toHaveLength(1);
		});

		test('follows every status in one row if its trigger does', async () => {
			const imported = await recipes.import('paid-sale', language, ({ type }) =>
				type === 'digitalSalesTrigger' ? { triggerOn: ['any'] } : undefined,
			);
			const hash = await chargeAt(recipes.sandbox, await imported.publish(), TRACKING);
			const states = ['paid', 'pre_chargeback', 'refunded'];
			for (const [index, state] of states.entries()) {
				await recipes.sandbox.setStatus(hash, state);
				await imported.ended(index + 1);
				expect(recipes.services.rows(tab)).toMatchObject([{ status: state }]);
			}

			expect(recipes.services.callsOf('hubspot')).toHaveLength(1);
			expect(recipes.services.callsOf('telegram').at(-1)?.text).toContain(
				say('Refunded', 'Reembolsada'),
			);
		});
	});

	describe('ad-attribution', () => {
		const UTMIFY = 'https://api.utmify.com.br/api-credentials/orders';
		const META = `https://graph.facebook.com/v25.0/${say('YOUR-PIXEL-ID', 'ID-DO-SEU-PIXEL')}/events`;
		/** A time of the platform, in Sao Paulo, as UTMify takes it. */
		const utc = (time = ''): string =>
			new Date(`${time.replace(' ', 'T')}-03:00`).toISOString().slice(0, 19).replace('T', ' ');
		const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
		const bodiesAt = (address: string): unknown[] =>
			recipes.services.webCalls
				.filter(({ url }) => url.split('?')[0] === address)
				.map(({ body }) => body);

		test('tells UTMify and Meta of a paid sale', async () => {
			const [, hash] = await sell('ad-attribution', 'paid');

			const { amount, amount_liquid: liquid, created_at, updated_at, ...sale } = charged();
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
						email: 'maria@example.test',
						phone: '11987654321',
						document: '52998224725',
					},
					products: [
						{
							id: recipes.sandbox.products[0]?.hash,
							name: recipes.sandbox.products[0]?.title,
							planId: recipes.sandbox.products[0]?.offers[0]?.hash,
							planName: recipes.sandbox.products[0]?.offers[0]?.title,
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
			expect(sale.payment_status).toBe('paid');
			expect(bodiesAt(META)).toEqual([
				{
					data: [
						{
							event_name: 'Purchase',
							event_id: hash,
							event_time: Date.parse(`${updated_at.replace(' ', 'T')}-03:00`) / 1000,
							action_source: 'system_generated',
							user_data: { em: [sha256('maria@example.test')], ph: [sha256(WHATSAPP)] },
							custom_data: {
								currency: 'BRL',
								value: 19.9,
								order_id: hash,
								content_type: 'product',
								content_ids: [recipes.sandbox.products[0]?.hash],
							},
						},
					],
				},
			]);
			const [toUtmify, toMeta] = recipes.services.webCalls;
			expect(toUtmify?.headers.authorization).toBe('Bearer test-key-of-another');
			expect(toMeta?.url).toContain('access_token=test-token-of-meta');
		});

		test('tells UTMify alone what is paid back, and nothing that is under review', async () => {
			const [, hash] = await sell('ad-attribution', 'paid', 'pre_chargeback', 'chargeback');

			const { created_at, updated_at } = charged();
			const createdAt = utc(created_at);
			expect(bodiesAt(UTMIFY)).toMatchObject([
				{ orderId: hash, status: 'paid', createdAt },
				{ orderId: hash, status: 'chargedback', createdAt, refundedAt: utc(updated_at) },
			]);
			expect(bodiesAt(META)).toHaveLength(1);
		});

		test('does not send UTMify an order that is too old for it', async () => {
			const imported = await recipes.import('ad-attribution', language);
			const hash = await chargeAt(recipes.sandbox, await imported.publish());
			charged().created_at = '2026-01-01 10:00:00';

			await recipes.sandbox.setStatus(hash, 'paid');
			await imported.ended();

			expect(bodiesAt(UTMIFY)).toEqual([]);
			expect(bodiesAt(META)).toHaveLength(1);
		});
	});

	test('errors-to-telegram tells the team which workflow failed, where and why', async () => {
		const teller = await recipes.import('errors-to-telegram', language);
		await teller.publish();
		const failing = await recipes.failing(teller);

		await failing();

		const [call] = await until('the message', () => {
			const calls = recipes.services.callsOf('telegram');
			return calls.length > 0 ? calls : undefined;
		});
		expect(call?.text).toMatch(/A failing workflow[^]*Fail here[^]*Out of stock &lt;b[^]*http/);
		// Telegram counts the characters after it has read the HTML.
		expect(String(call?.text).replaceAll('&lt;', '<').length).toBeLessThan(4096);
	});

	test('access-by-http grants on paid, tells the customer, and revokes on a refund', async () => {
		const [, hash] = await sell('access-by-http', 'paid', 'pre_chargeback', 'chargeback');

		expect(recipes.services.webCalls).toMatchObject([
			{
				url: 'https://members.example.com/api/access/grant',
				body: { email: 'maria@example.test', transaction: hash },
			},
			{
				url: 'https://members.example.com/api/access/revoke',
				body: { email: 'maria@example.test', transaction: hash },
			},
		]);
		expect(recipes.services.mail.mails).toMatchObject([
			{ text: expect.stringMatching(say('is open 🎉.*maria@', 'está liberado 🎉.*maria@')) },
		]);
	});

	const granted = (hash: string) => ({
		url: 'https://members.example.com/api/access/grant',
		body: { email: 'maria@example.test', transaction: hash },
	});

	test('sell-and-deliver charges an order sent twice once, and its payment opens the access once', async () => {
		// The first offer of the catalog costs less than the lowest amount of the trigger.
		const offerHash = { __rl: true, mode: 'list', value: '' };
		const imported = await recipes.import('sell-and-deliver', language, ({ parameters }) =>
			parameters.operation === 'create'
				? { cart: { items: [{ offerHash, quantity: 1, price: '19,90' }] } }
				: undefined,
		);
		const url = await imported.publish();
		const before = recipes.sandbox.charges();
		const customer = customerWith(3, cpf(language === 'en' ? 300_000_001 : 300_000_002));

		await imported.fillIn(customer);
		await imported.ended();
		await imported.fillIn(customer);
		await imported.ended(2);

		expect(recipes.sandbox.charges() - before).toBe(1);
		const { hash, pix } = charged();
		const { mails } = recipes.services.mail;
		expect(mails).toMatchObject(
			Array(2).fill({
				to: { text: 'maria@example.test' },
				html: expect.stringContaining(pix?.pix_qr_code ?? ''),
				attachments: [{ cid: 'qrCode', contentType: 'image/png' }],
			}),
		);
		expect(recipes.services.webCalls).toEqual([]);

		// Nobody else is told: the charge itself named the trigger of its workflow.
		await recipes.sandbox.pay(hash);
		await imported.ended(3);
		for (const shape of NOTICE_SHAPES) await recipes.sandbox.notify(hash, { shape, url });
		expect(recipes.services.webCalls).toMatchObject([granted(hash)]);
		expect(mails[2]?.text).toContain(say('is open 🎉', 'está liberado 🎉'));

		await recipes.sandbox.setStatus(hash, 'refunded');
		await imported.ended(4);
		expect(recipes.services.webCalls[1]?.url).toContain('/access/revoke');
		expect(mails).toHaveLength(3);
	});

	test('sell-and-deliver opens the access for a sale of the checkout, too', async () => {
		const [, hash] = await sell('sell-and-deliver', 'paid');

		expect(recipes.services.webCalls).toMatchObject([granted(hash)]);
	});

	// n8n publishes its form all the same.
	test('sell-and-deliver charges nobody while its trigger cannot be published', async () => {
		const imported = await recipes.import('sell-and-deliver', language, ({ type }) =>
			type === 'digitalSalesTrigger' ? { triggerOn: [] } : undefined,
		);
		await expect(imported.publish()).rejects.toThrow('Trigger On');
		await until('the form', async () => await imported.form().catch(() => undefined));
		const before = recipes.sandbox.charges();

		await imported.fillIn(CUSTOMER);

		expect((await imported.over()).error).toContain('its Digital Sales Trigger is not published');
		expect(recipes.sandbox.charges()).toBe(before);
	});

	describe('recover-checkout-pix', () => {
		const quick: Change = ({ type }) =>
			type === 'wait' ? { amount: 2, unit: 'seconds' } : undefined;
		/** Published, and told of a sale that waits for its payment. */
		const wait = async (turn?: Turn): Promise<[ImportedRecipe, string]> => {
			const imported = await recipes.import('recover-checkout-pix', language, quick, turn);
			const url = await imported.publish();
			const hash = await chargeAt(recipes.sandbox, url, TRACKING);
			await recipes.sandbox.notify(hash, { url });
			return [imported, hash];
		};

		test('sends the code of a PIX that is not paid after the pause, once', async () => {
			const [imported] = await wait();
			await imported.ended();

			expect(recipes.services.mail.mails).toMatchObject([
				{
					to: { text: 'maria@example.test' },
					subject: expect.stringMatching(/PIX.*R\$/i),
					html: expect.stringContaining(charged().pix?.pix_qr_code ?? ''),
					attachments: [{ cid: 'qrCode' }],
				},
			]);
			expect(recipes.services.calls).toEqual([]);
			expect(await imported.runs()).toBe(1);
		});

		test('sends nothing at night', async () => {
			const name = say('Wait 30 minutes', 'Esperar 30 minutos');
			const { type, typeVersion, parameters } = editFields(name, { minutes: '' });
			const planned: Turn = (node) => {
				if (node.name !== name) return node;
				const value = String(node.parameters.amount).replaceAll(
					'$now',
					"DateTime.fromISO('2026-07-30T19:50:00')",
				);
				const assignments = [{ id: name, name: 'minutes', value, type: 'number' }];
				const set = { ...parameters, assignments: { assignments } };
				return { ...node, type, typeVersion, parameters: set };
			};

			const [imported] = await wait(planned);

			const [item] = (await imported.ended()).items(name);
			expect(item?.json.minutes).toBe(730);
		});

		test('sends the template once it is activated', async () => {
			const [imported] = await wait((node) =>
				node.type.endsWith('.whatsApp') ? { ...node, disabled: false } : node,
			);
			await imported.ended();

			const [call] = recipes.services.callsOf('whatsApp');
			expect(call).toMatchObject({
				recipientPhoneNumber: WHATSAPP,
				template: say('pix_open|en_US', 'pix_em_aberto|pt_BR'),
			});
			expect(JSON.stringify(call?.components)).toContain(charged().pix?.pix_qr_code);
		});

		test.each(['paid', 'expired', 'analyzing'])(
			'leaves alone a sale that is %s',
			async (status) => {
				const [imported, hash] = await wait();
				charged().payment_status = status;
				await imported.ended();

				expect(charged()).toMatchObject({ hash, payment_status: status });
				expect(recipes.services.mail.mails).toEqual([]);
			},
		);
	});

	describe('charge-list-from-google-sheets', () => {
		const recipe = 'charge-list-from-google-sheets';
		const tab = say('Charges', 'Cobrar');
		const row = (order: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
			[say('order', 'pedido')]: order,
			[say('name', 'nome')]: 'Maria da Silva',
			email: 'maria@example.test',
			[say('phone', 'telefone')]: '11987654321',
			[say('document', 'documento')]: '52998224725',
			[say('price', 'preco')]: '97,00',
			...more,
		});
		const transaction = say('transaction', 'cobranca');
		const newOrder = (): string => `order-${language}-${Math.random()}`;

		test('charges each row once, also where its row could not be written', async () => {
			const imported = await recipes.import(recipe, language);
			const rows = [
				row(newOrder()),
				row(newOrder(), { [transaction]: 'there before' }),
				row(newOrder()),
			];
			recipes.services.sheets.set(tab, rows);
			const before = recipes.sandbox.charges();

			well(await imported.execute());

			expect(recipes.sandbox.charges() - before).toBe(2);
			const [first, last] = [
				recipes.sandbox.transactions.at(-2),
				recipes.sandbox.transactions.at(-1),
			];
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

			rows[0] = { ...rows[0], [transaction]: '' };
			well(await imported.execute());
			expect(recipes.sandbox.charges() - before).toBe(2);
			expect(rows[0]).toMatchObject({ [transaction]: first?.hash });
		});

		test('says in the row what is missing or wrong, and charges the others', async () => {
			const document = say('document', 'documento');
			const imported = await recipes.import(recipe, language);
			const rows = [
				row(newOrder(), { [document]: '' }),
				row(newOrder(), { [document]: '52998224726' }),
				row(newOrder()),
			];
			recipes.services.sheets.set(tab, rows);

			well(await imported.execute());

			expect(rows).toMatchObject([
				{
					status: say(`Fill in document and run it again`, 'Preencha documento e execute de novo'),
				},
				{ status: expect.stringMatching(/CPF/) },
				{ [transaction]: charged().hash, status: 'waiting_payment' },
			]);
			expect(rows.slice(0, 2).map((one) => one[transaction])).toEqual([undefined, undefined]);
		});

		test('says in the row what to do about a charge in doubt', async () => {
			const imported = await recipes.import(recipe, language);
			const rows = [row(newOrder())];
			recipes.services.sheets.set(tab, rows);
			recipes.sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

			well(await imported.execute());
			expect(rows).toMatchObject([
				{ status: expect.stringMatching(/^The customer may already .*dashboard/) },
			]);
			well(await imported.execute());

			expect(rows).toMatchObject([
				{ status: expect.stringMatching(/set Options > Code to Charge Again to \w+/) },
			]);
		});

		test('writes beside the right customer if the sheet is sorted meanwhile', async () => {
			const imported = await recipes.import(recipe, language);
			const email = `${randomUUID()}@example.test`;
			const [first, last] = [row(newOrder()), row(newOrder(), { email })];
			recipes.services.sheets.set(tab, [first, last]);
			recipes.services.afterRead = (rows) => void rows.reverse();

			well(await imported.execute());

			const { transactions } = recipes.sandbox;
			expect(first).toMatchObject({ [transaction]: transactions.at(-2)?.hash });
			expect(last).toMatchObject({ [transaction]: transactions.at(-1)?.hash });
		});

		test('charges neither of two rows with the same order', async () => {
			const imported = await recipes.import(recipe, language);
			const rows = [row('twice'), row(' twice')];
			recipes.services.sheets.set(tab, rows);
			const before = recipes.sandbox.charges();

			well(await imported.execute());

			expect(recipes.sandbox.charges()).toBe(before);
			const status = expect.stringContaining(say('an order of its own', 'um pedido só dela'));
			expect(rows).toMatchObject([{ status }, { status }]);
		});

		test('says what to do with an empty sheet', async () => {
			const run = await (await recipes.import(recipe, language)).execute();

			expect(run.error).toContain(say(`"${tab}" has no row to charge`, `"${tab}" não tem linha`));
		});
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

	describe('reconciliation', () => {
		let customers = 0;
		/** Published, with a schedule that only the test runs, and a way to wait for what a step starts. */
		const publish = async (change: Change = () => undefined) => {
			const imported = await recipes.import('reconciliation', language, (node) =>
				node.type === 'scheduleTrigger'
					? { rule: { interval: [{ field: 'months', monthsInterval: 12 }] } }
					: change(node),
			);
			const url = await imported.publish();
			const over = async (step: () => Promise<unknown>) => {
				const before = await imported.runs();
				await step();
				return await imported.over(before + 1);
			};
			const order = async (): Promise<string> => {
				well(
					await over(
						async () => await imported.fillIn(customerWith(3, cpf(200_000_000 + customers++))),
					),
				);
				return charged().hash;
			};
			return { imported, url, over, order };
		};
		const told = (): unknown[] => recipes.services.callsOf('telegram').map(({ text }) => text);

		test('tells each change once, a lost webhook by its schedule', async () => {
			const { imported, url, over, order } = await publish(({ parameters }) =>
				parameters.operation === 'create' && parameters.resource === 'transaction'
					? { notify: 'none' }
					: undefined,
			);
			const notify = async (hash: string): Promise<void> => {
				well(await over(async () => await recipes.sandbox.notify(hash, { url })));
			};
			const [noticed, lost, open] = [await order(), await order(), await order()];

			well(await imported.execute());
			expect(told()).toEqual([]);
			for (const hash of [noticed, lost]) await recipes.sandbox.setStatus(hash, 'paid');
			await notify(noticed);
			expect(told()).toEqual([
				expect.stringMatching(`${salePaid}</b>: Maria da Silva, R\\$.*\\d[.,]\\d\\d\n${noticed}`),
			]);

			well(await imported.execute());
			well(await imported.execute());
			expect(told().slice(1)).toEqual([expect.stringMatching(`${salePaid}[^]*${lost}`)]);
			// The notice comes after all: nobody is told twice.
			await notify(lost);
			await recipes.sandbox.setStatus(open, 'refused');
			await notify(open);
			expect(told().slice(2)).toEqual([
				expect.stringMatching(`${say('Refused', 'Recusada')}[^]*${open}`),
			]);
			await recipes.sandbox.setStatus(noticed, 'pre_chargeback');
			await notify(noticed);
			expect(told().slice(3)).toEqual([expect.stringMatching(`pre_chargeback[^]*${noticed}`)]);
		});

		test('tells once of an order that was sent twice', async () => {
			const { imported, over, order } = await publish();
			recipes.services.down.add('telegram');
			const hash = await order();
			const customer = customerWith(3, cpf(200_000_000 + customers - 1));
			well(await over(async () => await imported.fillIn(customer)));
			expect(charged().hash).toBe(hash);
			await over(async () => await recipes.sandbox.setStatus(hash, 'paid'));
			recipes.services.down.clear();

			well(await imported.execute());
			well(await imported.execute());

			expect(told()).toEqual([expect.stringContaining(hash)]);
		});

		test('tells in a later run what could not be told', async () => {
			const { imported, over, order } = await publish();
			const hash = await order();

			recipes.services.down.add('telegram');
			const failed = await over(async () => await recipes.sandbox.setStatus(hash, 'paid'));
			expect(failed.error).toBeDefined();
			expect((await imported.execute()).error).toBeDefined();
			recipes.services.down.clear();
			well(await imported.execute());
			well(await imported.execute());

			expect(told()).toEqual([expect.stringContaining(hash)]);
		});
	});

	const toolName = (english: string, portuguese: string): string =>
		say(english, portuguese).replace(/ /g, '_');
	const customerOrder = (): Record<string, unknown> => ({
		offer_hash: recipes.sandbox.products[0]?.offers[0]?.hash,
		quantity: 2,
		customer_name: 'Maria da Silva',
		customer_email: `${randomUUID()}@example.test`,
		customer_phone: '(11) 91234-5678',
		customer_document: '529.982.247-25',
	});

	describe('ai-sales-assistant', () => {
		let model: ModelServer;
		afterEach(async () => await model.close());

		/**
		 * Has the model charge in a chat, and a person answer the mail about it; gives what the customer is
		 * then told, which is what the last tool said to the model.
		 */
		const review = async (answer: 'true' | 'false'): Promise<string> => {
			const order = customerOrder();
			model = await serveModel(
				[
					{
						tool: toolName('List the products', 'Listar os produtos'),
						args: () => ({ search: '' }),
					},
					{
						tool: toolName('Charge by PIX', 'Gerar Pix'),
						args: () => ({ toolParameters: order }),
					},
				],
				(answers) => answers.at(-1) ?? '',
			);
			await recipes.addCredential('openAiApi', { apiKey: 'test-model-key', url: model.url });
			const imported = await recipes.import('ai-sales-assistant', language);
			await imported.publish();
			const messages = await imported.write('I want to buy');
			const mail = await until('the mail', () => recipes.services.mail.mails[0]);
			expect(mail.subject).toBe(say('Approve a charge', 'Aprovar uma cobrança'));
			expect(mail.html).toContain(String(order.customer_email));
			await imported.inState('waiting');
			const links = [...mail.html.matchAll(/href="([^"]+)"/g)].map(([, link = '']) =>
				link.replaceAll('&amp;', '&'),
			);
			const link = links.find((one) => one.includes(`approved=${answer}`)) ?? '';
			// n8n takes no answer from what calls itself a program: a mail scanner follows links, too.
			const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
			expect((await fetch(link, { headers })).status).toBe(200);
			const message = await until('the answer in the chat', () => messages[0]);
			await imported.ended();
			return message;
		};

		test('charges when a person approves', async () => {
			const before = recipes.sandbox.charges();

			const message = await review('true');

			expect(recipes.sandbox.charges() - before).toBe(1);
			const price = recipes.sandbox.products[0]?.offers[0]?.price ?? 0;
			expect(charged().amount).toBe(price * 2);
			expect(message).toContain(charged().pix?.pix_qr_code);
		});

		test('does not charge when a person declines', async () => {
			const before = recipes.sandbox.charges();

			expect(await review('false')).toContain('rejected');

			expect(recipes.sandbox.charges()).toBe(before);
		});
	});
});
