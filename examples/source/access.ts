import { mailPix } from './charge-by-email';
import { activate, sendLink, setUpNote, tryIt } from './charging';
import { notChargedSteps, pixPage } from './checkout';
import { branches, httpRequest, RETRIED, sendEmail } from './nodes';
import {
	addressNote,
	chargeOrder,
	message,
	onlyMyProduct,
	orderForm,
	publishNote,
	saleTrigger,
	TEXTS,
	TO_CHOOSE,
} from './parts';
import { from, off, output, type Node, type Recipe, type Say, type Workflow } from './workflow';

/** Without the statuses before a refund or a chargeback, because these sales may still stay paid. */
const REVERSED = ['refunded', 'chargeback', 'chargedback'];

/** Grants the access in any members area with an API, informs the customer, and revokes the access after a refund. */
function delivery(say: Say): Workflow['chains'] {
	const start = saleTrigger(say, ['paid', 'reversed'], onlyMyProduct(say));
	const of = (field: string): string => `${from(start)}.${field}`;
	const decide = branches(say('Paid or refunded?', 'Aprovada ou reembolsada?'), {
		[say('grant', 'liberar')]: `${of('payment_status')} === 'paid'`,
		[say('revoke', 'retirar')]: `${JSON.stringify(REVERSED)}.includes(${of('payment_status')})`,
	});
	const post = (name: string, path: string): Node =>
		httpRequest(
			name,
			{
				method: 'POST',
				url: `https://members.example.com/api/access/${path}`,
				authentication: 'genericCredentialType',
				genericAuthType: 'httpHeaderAuth',
				sendBody: true,
				bodyParameters: {
					parameters: [
						{ name: 'email', value: `={{ ${of('customer_email')} }}` },
						{ name: 'name', value: `={{ ${of('customer_name')} }}` },
						{ name: 'product', value: `={{ ${of('product_hash')} }}` },
						{ name: 'transaction', value: `={{ ${of('hash')} }}` },
					],
				},
				options: {},
			},
			RETRIED,
		);
	const mail = sendEmail(say('Send the access', 'Enviar o acesso'), {
		fromEmail: TO_CHOOSE,
		toEmail: `={{ ${of('customer_email')} }}`,
		subject: say('=Your access is open', '=Seu acesso está liberado'),
		emailFormat: 'text',
		text: `=${TEXTS.access(say, {
			name: `{{ (${of('customer_name')} ?? '').trim().split(/\\s+/)[0] || '${say('there', 'tudo bem')}' }}`,
			product: `{{ ${of('product_title')} ?? '${say('your order', 'seu pedido')}' }}`,
			email: `{{ ${of('customer_email')} }}`,
		})}`,
		options: { appendAttribution: false },
	});
	return [
		[start, decide, post(say('Grant the access', 'Liberar o acesso'), 'grant'), mail],
		[output(decide, 1), post(say('Revoke the access', 'Retirar o acesso'), 'revoke')],
	];
}

function deliveryNote(say: Say): string {
	return say(
		'A payment grants the access, a refund or chargeback takes it away (everything, if your members area knows customers only by e-mail). **Before a Retry, check that the sale is still paid.**',
		'O pagamento libera o acesso, o reembolso ou chargeback retira (tudo, se a área de membros só conhece o e-mail). **Antes de um Retry, confira se a venda continua paga.**',
	);
}

function deliverySteps(say: Say): string[] {
	return [
		say(
			'*When a sale changes*: your credential, **product** and the **lowest amount a customer can pay**; otherwise one cent for anything opens the access.',
			'*Quando uma venda muda*: sua credencial, seu **produto** e o **menor valor que um cliente pode pagar**; senão um centavo por qualquer coisa libera o acesso.',
		),
		say(
			'*Grant* and *Revoke the access*: the addresses of your members area, a *Header Auth* credential.',
			'*Liberar* e *Retirar o acesso*: os endereços da sua área de membros, uma credencial *Header Auth*.',
		),
		say(
			'*Send the access*: your SMTP credential, sender address and link.',
			'*Enviar o acesso*: sua credencial SMTP, seu endereço de remetente e o link.',
		),
	];
}

/** A members area with an API for it. */
export const accessByHttp: Recipe = (say) => ({
	name: say('Access after payment, by HTTP', 'Acesso depois do pagamento, por HTTP'),
	notes: [
		[
			say(
				'## Access in your members area\nFor any members area with an API.',
				'## Acesso na área de membros\nPara qualquer área de membros com uma API.',
			),
			deliveryNote(say),
		].join('\n\n'),
		setUpNote(say, [...deliverySteps(say), publishNote(say)]),
		addressNote(say),
	],
	chains: delivery(say),
});

/** Form, PIX and access in one workflow. Its trigger receives the webhooks of its charges and of the checkout's sales. */
export const sellAndDeliver: Recipe = (say) => {
	const form = orderForm(say, say('access', 'acesso'));
	const charge = chargeOrder(say);
	const text = message(say, `${from(form)}.whatsapp`);
	const next = say(
		'We have sent it to your e-mail, too. Once the payment is there, your access follows by e-mail. You can close this page.',
		'Também enviamos para o seu e-mail. Assim que o pagamento cair, o acesso chega por e-mail. Pode fechar esta página.',
	);
	return {
		name: say('Sell and deliver', 'Vender e entregar'),
		notes: [
			[
				say(
					'## Sell and deliver\nThe PIX is on the page and in an e-mail. Its payment starts the lower half, even days later; so does a sale in the checkout. **Add no Wait for Payment**: the delivery would come twice.',
					'## Vender e entregar\nO Pix aparece na página e vai por e-mail. O pagamento inicia a parte de baixo, mesmo dias depois; uma venda no checkout também. **Não use Wait for Payment**: a entrega iria duas vezes.',
				),
				deliveryNote(say),
			].join('\n\n'),
			setUpNote(say, [
				`${say(
					'*Charge by PIX*: your credential and an offer of the product.',
					'*Gerar Pix*: sua credencial e uma oferta do produto.',
				)} ${tryIt(say)}`,
				`${say(
					'*Send the PIX*: your SMTP credential and sender address.',
					'*Enviar o Pix*: sua credencial SMTP e seu endereço de remetente.',
				)} ${activate(say)}`,
				...deliverySteps(say),
				`${sendLink(say)} ${say(
					'For sales of the checkout, your platform needs that of *When a sale changes*.',
					'Para as vendas do checkout, a plataforma precisa da de *Quando uma venda muda*.',
				)}`,
			]),
		],
		chains: [
			[form, charge, pixPage(say, next), text, off(mailPix(say, text))],
			[output(charge, 1), ...notChargedSteps(say, form, charge)],
			...delivery(say),
		],
	};
};
