import mapValues from 'lodash/mapValues';
import type { INodeParameters } from 'n8n-workflow';
import {
	CONTINUES,
	createPix,
	editFields,
	form,
	RETRIED,
	salesTrigger,
	stopAndError,
	telegram,
	waitForPayment,
	whatsApp,
	type Sheet,
} from './nodes';
import {
	ABROAD,
	OF_BRAZIL,
	WHATSAPP,
	WITHOUT_NINTH_DIGIT,
} from '../../nodes/DigitalSales/domain/customer';
import { DEFAULT_FIELDS } from '../../nodes/DigitalSales/output/transaction';
import { from, type Node, type Say } from './workflow';

/** The customer fills in a form of n8n, at an address that ends in this name of the recipe. */
export function orderForm(say: Say, recipe: string): Node {
	return form(
		say('Order form', 'Formulário do pedido'),
		`${say('order', 'pedido')}-${recipe}`,
		{
			title: say('Your order', 'Seu pedido'),
			description: say(
				'Fill in your details. You get the PIX right away.',
				'Preencha seus dados. O Pix aparece na hora.',
			),
			button: say('Get my PIX', 'Gerar meu Pix'),
		},
		[
			{
				name: say('name', 'nome'),
				label: say('Full name', 'Nome completo'),
				placeholder: 'Maria da Silva',
			},
			{
				name: 'email',
				label: 'E-mail',
				type: 'email',
				placeholder: 'maria@example.com',
			},
			{
				name: 'whatsapp',
				label: say('WhatsApp with area code', 'WhatsApp com DDD'),
				placeholder: '(11) 91234-5678',
			},
			{
				name: say('document', 'documento'),
				label: say('CPF or CNPJ', 'CPF ou CNPJ'),
				placeholder: '529.982.247-25',
			},
		],
	);
}

/** A required value that a person has to choose: the editor marks the node, and n8n does not publish it. */
export const TO_CHOOSE = '';

/** The offer that a person chooses; its price and title come from the catalog. */
const CHOSEN_OFFER = {
	items: [{ offerHash: { __rl: true, mode: 'list', value: TO_CHOOSE }, quantity: 1 }],
};

/**
 * Charges the person who filled in the order form. A refused charge leaves through the error output, which ends in
 * `notCharged`.
 *
 * @param order expression that reads the form's fields
 */
export function chargeOrder(say: Say, order = '$json', options: INodeParameters = {}): Node {
	return createPix(
		say('Charge by PIX', 'Gerar Pix'),
		{
			cart: CHOSEN_OFFER,
			customerName: `={{ ${order}.${say('name', 'nome')} }}`,
			customerEmail: `={{ ${order}.email }}`,
			customerPhone: `={{ ${order}.whatsapp }}`,
			customerDocument: `={{ ${order}.${say('document', 'documento')} }}`,
			// The same form sent twice charges once. With another e-mail or phone it charges again, because the first PIX
			// reached nobody; on another day the same person may buy again. A Retry has the day of its original.
			orderReference: `={{ ${order}.${say('document', 'documento')} }}, {{ ${order}.whatsapp }}, {{ ${order}.email }}, {{ $parameter.cart.items[0].offerHash.value }}, {{ ${order}.submittedAt.slice(0, 10) }}`,
			options: { fields: [...DEFAULT_FIELDS, 'pix_qr_code_image'], ...options },
		},
		{ onError: 'continueErrorOutput' },
	);
}

/** Fails the execution with the reason, so that the team sees it. */
export function notCharged(say: Say, charge: Node): Node {
	return stopAndError(say('PIX not created', 'Pix não gerado'), {
		errorMessage: `={{ ${reason(`${from(charge)}.error`)} }}`,
	});
}

/** An error's message and advice. */
export function reason(error: string): string {
	return `[${error}.message, ${error}.advice].filter(Boolean).join('. ') || ${error}`;
}

/**
 * A number as WhatsApp expects it, from a phone that Create PIX accepts. A number of another country, typed with + or
 * 00, stays as it is; one that Brazil has gets 55. Any other number gives an empty text, because a wrong guess would
 * send name, amount and code to a stranger.
 */
export function whatsAppNumber(phone: string): string {
	const steps = [
		`const given = typed.replace(/${WHATSAPP.source}/i, '+$1')`,
		`if (given.includes('@')) return ''`,
		String.raw`const number = given.replace(/\(0\)|\.0$|[^\d+]/g, '').replace(/^00/, '+')`,
		`if (/${ABROAD.source}/.test(number)) return number.slice(1)`,
		`const [, , area, local] = /${OF_BRAZIL.source}/.exec(number) ?? []`,
		`return area ? '55' + area + local.replace(/${WITHOUT_NINTH_DIGIT.source}/, '9$&') : ''`,
	];
	return `((typed) => { ${steps.join('; ')}; })(String(${phone} ?? ''))`;
}

/**
 * Adds the parts of a message to the item: name, amount, product, code and addresses.
 *
 * @param phone expression that reads the number as the customer typed it; the platform may have dropped the +
 */
export function message(say: Say, phone = '$json.customer_phone'): Node {
	const locale = say('en-US', 'pt-BR');
	const anyAmount = say('the agreed amount', 'valor combinado');
	return editFields(say('Message', 'Mensagem'), {
		// Anyone can write anything into a form, and the message goes out in the name of the shop.
		[say('name', 'nome')]:
			`={{ ($json.customer_name ?? '').trim().split(/\\s+/)[0].replace(/[^\\p{L}'’ -]/gu, '').slice(0, 40) || '${say('there', 'cliente')}' }}`,
		[say('amount', 'valor')]:
			`={{ $json.amount_reais?.toLocaleString('${locale}', { style: 'currency', currency: 'BRL' }) ?? '${anyAmount}' }}`,
		[say('product', 'produto')]:
			`={{ $json.product_title ?? '${say('your order', 'seu pedido')}' }}`,
		[say('code', 'codigo')]: '={{ $json.pix_qr_code }}',
		email: '={{ $json.customer_email }}',
		whatsapp: `={{ ${whatsAppNumber(phone)} }}`,
	});
}

/**
 * The same fields as a text shows them, read where a sender has replaced the item.
 * @param show `html` if the text is HTML
 */
export function words(say: Say, messageNode: Node, show = plain) {
	const word = (field: string): string => show(`${from(messageNode)}.${field}`);
	return {
		name: word(say('name', 'nome')),
		amount: word(say('amount', 'valor')),
		product: word(say('product', 'produto')),
		code: word(say('code', 'codigo')),
		email: word('email'),
		whatsapp: word('whatsapp'),
	};
}

type Words = ReturnType<typeof words>;
type Purchase = Pick<Words, 'name' | 'amount' | 'product'>;

/** The messages to customers. */
export const TEXTS = {
	pix: (say: Say, { name, amount, product }: Purchase): string =>
		say(
			`Hi, ${name}! Your PIX of ${amount} (${product}) is ready. Scan the QR code, or copy the code below and paste it in your banking app under Pix Copia e Cola.`,
			`Oi, ${name}! Seu Pix de ${amount} (${product}) está pronto. Escaneie o QR Code ou copie o código abaixo e cole no app do banco, em Pix Copia e Cola.`,
		),
	stillOpen: (say: Say, { name, amount, product }: Purchase): string =>
		say(
			`Hi, ${name}! Your PIX of ${amount} (${product}) is still open. Do you need help? If you have paid, please ignore this. Here is the code.`,
			`Oi, ${name}! Seu Pix de ${amount} (${product}) ainda está em aberto. Precisa de ajuda? Se já pagou, desconsidere. Segue o código.`,
		),
	paid: (say: Say, { name, amount, product }: Purchase): string =>
		say(
			`Hi, ${name}! Payment confirmed ✅ We have received your PIX of ${amount} (${product}). Your access follows.`,
			`Oi, ${name}! Pagamento confirmado ✅ Recebemos seu Pix de ${amount} (${product}). Já vamos liberar seu acesso.`,
		),
	access: (
		say: Say,
		{ name, product, email }: Omit<Words, 'amount' | 'code' | 'whatsapp'>,
	): string =>
		say(
			`Hi, ${name}! Your access is open 🎉 (${product}) Sign in at https://YOUR-LINK with the e-mail ${email}. Questions? Just reply.`,
			`Oi, ${name}! Seu acesso está liberado 🎉 (${product}) Acesse https://SEU-LINK e entre com o e-mail ${email}. Dúvidas? É só responder.`,
		),
};

/** Waits for the payment of a charge; a sender in between has replaced its item. Deliver after its second output. */
export function waitFor(say: Say, charge: Node, options: INodeParameters = {}): Node {
	return waitForPayment(say('Wait for the payment', 'Aguardar o pagamento'), {
		transactionHash: `={{ ${from(charge)}.hash }}`,
		options,
	});
}

/** Hours of the day between which customers are reminded. */
export const OPENS = 8;
export const CLOSES = 20;

/** An expression: in how many minutes a customer may be reminded, not before `minutes` are over. */
export function minutesByDay(minutes: string): string {
	return `(() => { const at = $now.plus({ minutes: ${minutes} }); const opens = at.set({ hour: ${OPENS}, minute: 0, second: 0 }); const then = at.hour < ${OPENS} ? opens : at.hour >= ${CLOSES} ? opens.plus({ days: 1 }) : at; return Math.ceil(then.diff($now, 'minutes').minutes); })()`;
}

/** Sends a text by WhatsApp Business Cloud. */
export function whatsAppText(
	name: string,
	to: string,
	text: string,
	more: Node['more'] = CONTINUES,
): Node {
	const parameters = {
		operation: 'send',
		phoneNumberId: TO_CHOOSE,
		recipientPhoneNumber: `=${to}`,
		textBody: `=${text}`,
		additionalFields: {},
	};
	return whatsApp(name, parameters, more);
}

/** Sends the QR code by WhatsApp Business Cloud. */
export function whatsAppPicture(name: string, to: string, caption: string): Node {
	const parameters = {
		operation: 'send',
		phoneNumberId: TO_CHOOSE,
		recipientPhoneNumber: `=${to}`,
		messageType: 'image',
		mediaPath: 'useMedian8n',
		mediaPropertyName: 'qrCode',
		additionalFields: { mediaCaption: `=${caption}` },
	};
	return whatsApp(name, parameters, CONTINUES);
}

/** Sends a template that Meta has approved, which WhatsApp delivers at any time. */
export function whatsAppTemplate(
	name: string,
	to: string,
	template: string,
	variables: string[] = [],
	more: Node['more'] = CONTINUES,
): Node {
	const parameter = variables.map((variable) => ({ type: 'text', text: `=${variable}` }));
	const body = { type: 'body', bodyParameters: { parameter } };
	const parameters = {
		operation: 'sendTemplate',
		phoneNumberId: TO_CHOOSE,
		recipientPhoneNumber: `=${to}`,
		template,
		components: variables.length > 0 ? { component: [body] } : {},
	};
	return whatsApp(name, parameters, more);
}

/** Tells the team. Telegram reads the text as HTML. */
export function tellTeam(name: string, text: string): Node {
	return telegram(
		name,
		{
			chatId: TO_CHOOSE,
			text: `=${text}`,
			additionalFields: { appendAttribution: false, parse_mode: 'HTML' },
		},
		RETRIED,
	);
}

/** An expression whose text is shown as it is. */
export function plain(expression: string): string {
	return `{{ ${expression} }}`;
}

/** An expression whose text goes into HTML. */
export function html(expression: string): string {
	return `{{ String((${expression}) ?? '-').replace(/&/g, '&amp;').replace(/</g, '&lt;') }}`;
}

/** An expression for the name of a payment status; an unknown status stays as the platform writes it. */
export function statusName(say: Say, status: string): string {
	const canceled = say('Canceled', 'Cancelada');
	const chargedBack = say('Charged back', 'Chargeback');
	const names = Object.entries({
		waiting_payment: say('Waiting for payment', 'Aguardando pagamento'),
		paid: say('Sale paid', 'Venda aprovada'),
		refused: say('Refused', 'Recusada'),
		canceled,
		cancelled: canceled,
		expired: say('Expired', 'Expirada'),
		refunded: say('Refunded', 'Reembolsada'),
		chargeback: chargedBack,
		chargedback: chargedBack,
	}).map(([code, name]) => `${code}: '${name}'`);
	return `({ ${names.join(', ')} })[${status}] ?? ${status}`;
}

/** Reais as people write them. */
export function reais(say: Say, expression: string): string {
	return `${expression}.toLocaleString('${say('en-US', 'pt-BR')}', { style: 'currency', currency: 'BRL' })`;
}

/** The sheet of a recipe, in the spreadsheet whose link a person pastes. */
export function sheet(tab: string): Sheet {
	return { link: TO_CHOOSE, tab };
}

/** Starts when a sale changes. */
export function saleTrigger(say: Say, triggerOn: string[], parameters: INodeParameters = {}): Node {
	return salesTrigger(say('When a sale changes', 'Quando uma venda muda'), {
		triggerOn,
		...parameters,
	});
}

/** Limits a trigger to one product and a minimum amount. Every trigger that starts a delivery needs both. */
export function onlyMyProduct(say: Say): INodeParameters {
	return {
		products: { items: [{ product: { __rl: true, mode: 'list', value: TO_CHOOSE } }] },
		filters: {
			minimumAmount: say(
				'enter the lowest amount paid, e.g. 19,90',
				'digite o menor valor pago, ex. 19,90',
			),
		},
	};
}

export const UTMS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'];

/** The fields that a row is made of. */
export const ROW_FIELDS: INodeParameters = {
	options: {
		fields: [
			...['hash', 'payment_status', 'amount_reais', 'payment_method', 'product_title'],
			...['customer_name', 'customer_email', 'customer_phone', 'created_at', 'updated_at'],
			...UTMS,
		],
	},
};

/** A sale as a row, from a trigger that gives `ROW_FIELDS`. */
export function saleRow(say: Say): Record<string, string> {
	const columns = {
		[say('sale', 'venda')]: 'hash',
		status: 'payment_status',
		[say('amount', 'valor')]: 'amount_reais',
		[say('method', 'forma')]: 'payment_method',
		[say('product', 'produto')]: 'product_title',
		[say('name', 'nome')]: 'customer_name',
		email: 'customer_email',
		[say('phone', 'telefone')]: 'customer_phone',
		[say('created', 'criada')]: 'created_at',
		[say('changed', 'mudou')]: 'updated_at',
		...Object.fromEntries(UTMS.map((utm) => [utm, utm])),
	};
	return mapValues(columns, (field) => `={{ $json.${field} }}`);
}

/** The names of a sheet's columns, for a note. */
export function columns(row: Record<string, string>): string {
	return Object.keys(row)
		.map((column) => `\`${column}\``)
		.join(', ');
}

export function publishNote(say: Say): string {
	return say(
		'Publish, and see *Where the production URL goes*.',
		'Publique e veja *Para onde vai a production URL*.',
	);
}

export function addressNote(say: Say): string {
	return say(
		'## Where the production URL goes\nFrom *When a sale changes* to the **webhook settings of your platform**, and, for charges of other workflows, to the **Notification URL** of your credential. If that is taken, set **Webhooks Go To** to *Another Address* in those charges.',
		'## Para onde vai a production URL\nDe *Quando uma venda muda* para o **cadastro de webhooks da plataforma** e, pelos Pix de outros fluxos, para a **Notification URL** da credencial. Se ela já tiver outra, use *Another Address* em **Webhooks Go To** nesses Pix.',
	);
}
