import { setUpNote } from './charging';
import { httpRequest, only, RETRIED } from './nodes';
import { addressNote, publishNote, saleTrigger, UTMS, whatsAppNumber } from './parts';
import type { Recipe } from './workflow';

/** UTMify's statuses, by the platform's names. */
const STATUSES = {
	waiting_payment: 'waiting_payment',
	paid: 'paid',
	refused: 'refused',
	refunded: 'refunded',
	chargeback: 'chargedback',
	chargedback: 'chargedback',
};
const STATUS = `(${JSON.stringify(STATUSES)})[$json.payment_status]`;

/** Meta refuses events that are older (Conversions API > Parameters > event_time). */
const DAYS = 7;

/** UTMify expects null for an unknown value, and refuses an empty text. */
const text = (field: string): string => `($json.${field} || null)`;

/** A time of the platform, which writes it without a time zone; now if the field is empty. */
const time = (field: string): string =>
	`DateTime.fromISO(String($json.${field} ?? $now.toISO()).replace(' ', 'T'), { zone: 'America/Sao_Paulo' })`;
const utc = (field: string): string => `${time(field)}.toUTC().toFormat('yyyy-MM-dd HH:mm:ss')`;

const TRACKING = ['src', ...UTMS];
const FIELDS = [
	...['hash', 'payment_status', 'amount_reais', 'amount', 'amount_liquid'],
	...['customer_name', 'customer_email', 'customer_phone', 'customer_document'],
	...['product_hash', 'product_title', 'offer_hash', 'offer_title'],
	...['payment_method', 'created_at', 'updated_at'],
	...TRACKING,
];

/** The platform does not say when a sale that it has refunded was paid; it was made shortly before. */
const ORDER = `={{ {
	orderId: $json.hash,
	platform: 'DigitalSales',
	paymentMethod: $json.payment_method === 'billet' ? 'boleto' : $json.payment_method,
	status: ${STATUS},
	createdAt: ${utc('created_at')},
	approvedDate: $json.payment_status === 'paid' ? ${utc('updated_at')} : ['refunded', 'chargedback'].includes(${STATUS}) ? ${utc('created_at')} : null,
	refundedAt: ['refunded', 'chargedback'].includes(${STATUS}) ? ${utc('updated_at')} : null,
	customer: {
		name: ${text('customer_name')},
		email: ${text('customer_email')},
		phone: ${text('customer_phone')},
		document: ${text('customer_document')},
	},
	products: [{
		id: $json.product_hash || $json.offer_hash || $json.hash,
		name: $json.product_title || $json.hash,
		planId: ${text('offer_hash')},
		planName: ${text('offer_title')},
		quantity: 1,
		priceInCents: $json.amount,
	}],
	trackingParameters: {
		sck: null,
		...Object.fromEntries(${JSON.stringify(TRACKING)}.map((name) => [name, $json[name] === 'null' ? null : $json[name] || null])),
	},
	commission: {
		totalPriceInCents: $json.amount,
		gatewayFeeInCents: $json.amount - ($json.amount_liquid || $json.amount),
		userCommissionInCents: $json.amount_liquid || $json.amount,
	},
} }}`;

/**
 * Of the customer's browser, which Meta requires for the source `website`, the platform says nothing.
 * Meta refuses a time that is yet to come.
 */
const EVENT = `={{ { data: [{
	event_name: 'Purchase',
	event_id: $json.hash,
	event_time: Math.floor(Math.min(${time('updated_at')}.toSeconds(), $now.toSeconds())),
	action_source: 'system_generated',
	user_data: {
		em: [($json.customer_email ?? '').trim().toLowerCase()].filter(Boolean).map((email) => email.hash('sha256')),
		ph: [${whatsAppNumber('$json.customer_phone')}].filter(Boolean).map((phone) => phone.hash('sha256')),
	},
	custom_data: {
		currency: 'BRL',
		value: $json.amount_reais,
		order_id: $json.hash,
		content_type: 'product',
		content_ids: [$json.product_hash ?? $json.hash],
	},
}] } }}`;

/** Sends sales and refunds to UTMify and Meta, so that they know which ad sold. */
export const adAttribution: Recipe = (say) => {
	const start = saleTrigger(say, ['waiting', 'paid', 'failed', 'reversed'], {
		options: { fields: FIELDS },
	});
	const taken = only(say('What UTMify takes', 'O que a UTMify aceita'), `!!${STATUS}`);
	const post = { method: 'POST', sendBody: true, specifyBody: 'json', options: {} };
	const order = httpRequest(
		say('Send to UTMify', 'Enviar à UTMify'),
		{
			...post,
			url: 'https://api.utmify.com.br/api-credentials/orders',
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			jsonBody: ORDER,
		},
		RETRIED,
	);
	const paid = only(
		say('Only if just paid', 'Só se acabou de ser aprovada'),
		`$json.payment_status === 'paid' && !(${time('updated_at')} < $now.minus({ days: ${DAYS} }))`,
	);
	const pixel = say('YOUR-PIXEL-ID', 'ID-DO-SEU-PIXEL');
	const event = httpRequest(
		say('Send to Meta', 'Enviar à Meta'),
		{
			...post,
			url: `https://graph.facebook.com/v25.0/${pixel}/events`,
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'facebookGraphApi',
			jsonBody: EVENT,
		},
		RETRIED,
	);
	return {
		name: say('Sales to UTMify and Meta Ads', 'Vendas na UTMify e no Meta Ads'),
		notes: [
			say(
				`## Which ad sold\nEach paid sale goes to UTMify and, as a *Purchase*, to Meta (e-mail and phone as hashes). UTMify also hears of open PIX, refused cards, refunds and chargebacks. **Delete the branch that you do not use.**`,
				`## Qual anúncio vendeu\nCada venda aprovada vai para a UTMify e, como *Purchase*, para a Meta (e-mail e telefone como hash). A UTMify também recebe Pix em aberto, cartões recusados, reembolsos e chargebacks. **Apague o ramo que você não usa.**`,
			),
			setUpNote(say, [
				say('*When a sale changes*: your credential.', '*Quando uma venda muda*: sua credencial.'),
				say(
					'*Send to UTMify*: a *Header Auth* credential with the name `x-api-token` and the value from Integrations > Webhooks > API Credentials.',
					'*Enviar à UTMify*: uma credencial *Header Auth* com o nome `x-api-token` e o valor de Integrações > Webhooks > Credenciais de API.',
				),
				say(
					`*Send to Meta*: the id of your pixel in place of \`${pixel}\`, and a *Facebook Graph API* credential with the token from the Events Manager (Settings > Conversions API).`,
					`*Enviar à Meta*: o ID do seu pixel no lugar de \`${pixel}\` e uma credencial *Facebook Graph API* com o token do Gerenciador de Eventos (Configurações > API de Conversões).`,
				),
				say(
					'If your checkout sends *Purchase* too, turn one off, unless it sends the hash as `eventID`.',
					'Se o seu checkout também envia *Purchase*, desligue um dos dois, a não ser que ele envie o código da venda como `eventID`.',
				),
				publishNote(say),
			]),
			addressNote(say),
		],
		chains: [
			[start, taken, order],
			[start, paid, event],
		],
	};
};
