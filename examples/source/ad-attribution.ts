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

/** Meta refuses events that are older. */
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
				`## Which ad sold\nEach paid sale goes to UTMify, with its UTM values and fees, and to Meta as a *Purchase*; e-mail and phone go to Meta only as hashes. UTMify also hears of PIX that wait for payment, of refused cards, refunds and chargebacks. **Use only one of the two? Delete the other branch.**`,
				`## Qual anúncio vendeu\nCada venda aprovada vai para a UTMify, com os UTMs e as taxas, e para a Meta como *Purchase*; e-mail e telefone vão à Meta só como hash. A UTMify também recebe Pix aguardando pagamento, cartões recusados, reembolsos e chargebacks. **Usa só uma das duas? Apague o outro ramo.**`,
			),
			[
				say('## Before you publish it', '## Antes de publicar'),
				say(
					`1. *When a sale changes*: choose your credential.
2. *Send to UTMify*: choose a *Header Auth* credential with the name \`x-api-token\` and the value from UTMify, under Integrations > Webhooks > API Credentials.
3. *Send to Meta*: put the id of your pixel in place of \`${pixel}\`, and choose a *Facebook Graph API* credential with the access token that the Events Manager makes for the pixel, under Settings > Conversions API.
4. If your checkout page has the pixel too, it must send the code of the sale as \`eventID\`; otherwise Meta counts each sale twice: then turn off *Purchase* in one of the two.`,
					`1. *Quando uma venda muda*: escolha sua credencial.
2. *Enviar à UTMify*: escolha uma credencial *Header Auth* com o nome \`x-api-token\` e o valor da UTMify, em Integrações > Webhooks > Credenciais de API.
3. *Enviar à Meta*: troque \`${pixel}\` pelo ID do seu pixel e escolha uma credencial *Facebook Graph API* com o token de acesso que o Gerenciador de Eventos gera para o pixel, em Configurações > API de Conversões.
4. Se o pixel também está no seu checkout, ele precisa enviar o código da venda como \`eventID\`; senão a Meta conta cada venda duas vezes: nesse caso, desligue o *Purchase* em um dos dois.`,
				),
				`5. ${publishNote(say)}`,
			].join('\n'),
			addressNote(say),
			say(
				`## Rules, and where they are from\n- UTMify (its document *Documentação da API para envio de vendas*): each change of an order, however late; what is not known is null; without a net amount the commission is the total.\n- Meta (*Conversions API > Parameters > event_time*): an event is at most ${DAYS} days old, so a payment that comes to light later is left out.\n- A phone number that is in doubt is left out of the hashes.`,
				`## Regras, e de onde vêm\n- UTMify (no documento *Documentação da API para envio de vendas*): toda mudança do pedido, mesmo tarde; o que não se sabe vai como null; sem valor líquido, a comissão é o total.\n- Meta (*Conversions API > Parameters > event_time*): um evento tem no máximo ${DAYS} dias; um pagamento que aparece depois disso fica de fora.\n- Um telefone duvidoso fica fora dos hashes.`,
			),
		],
		chains: [
			[start, taken, order],
			[start, paid, event],
		],
	};
};
