import { mailPix } from './charge-by-email';
import { notChargedNote } from './charging';
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
import { from, output, type Node, type Recipe, type Say, type Workflow } from './workflow';

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

function deliveryNote(say: Say): string[] {
	return [
		say(
			'A payment grants the access and tells the customer; a refund or a chargeback takes it away. A requested refund or a MED under review changes nothing. If you win a chargeback dispute, grant the access again by hand.',
			'A venda aprovada libera o acesso e avisa o cliente; o reembolso ou o chargeback retira o acesso. Pedido de reembolso ou MED em análise não mexe no acesso. Se você ganhar a disputa de um chargeback, libere o acesso de novo à mão.',
		),
		say(
			'If your members area knows customers only by their e-mail, a refund revokes everything bought with that e-mail. **Before you press Retry on a failed execution, check that the sale is still paid.**',
			'Se a sua área de membros identifica o cliente só pelo e-mail, um reembolso retira o acesso a tudo o que foi comprado com esse e-mail. **Antes de clicar em Retry em uma execução com erro, confira se a venda continua paga.**',
		),
	];
}

function deliverySteps(say: Say): string[] {
	return [
		say(
			'*When a sale changes*: choose your credential, your **product**, and the **lowest amount a customer can pay, coupons and PIX discount included**. Without them, one cent paid for any product would open the access; until you have chosen both, n8n cannot publish this trigger.',
			'*Quando uma venda muda*: escolha sua credencial, seu **produto** e o **menor valor que um cliente pode pagar, já com cupom e desconto no Pix**. Sem isso, um centavo pago por qualquer produto liberaria o acesso; enquanto faltar, o n8n não publica o gatilho.',
		),
		say(
			'*Grant* and *Revoke the access*: enter the addresses from the documentation of your members area, and choose a *Header Auth* credential.',
			'*Liberar* e *Retirar o acesso*: coloque os endereços que estão na documentação da sua área de membros e escolha uma credencial *Header Auth*.',
		),
		say(
			'*Send the access*: choose your SMTP credential, enter your sender address, and the link of your members area.',
			'*Enviar o acesso*: escolha sua credencial SMTP, escreva seu endereço de remetente e o link da sua área de membros.',
		),
	];
}

function beforePublishing(say: Say, steps: string[]): string {
	const numbered = steps.map((step, index) => `${index + 1}. ${step}`);
	return [say('## Before you publish it', '## Antes de publicar'), ...numbered].join('\n');
}

/** A members area with an API for it. */
export const accessByHttp: Recipe = (say) => ({
	name: say('Access after payment, by HTTP', 'Acesso depois do pagamento, por HTTP'),
	notes: [
		[
			say(
				'## Access in your members area\nFor any members area that has an API to grant and revoke the access.',
				'## Acesso na área de membros\nPara qualquer área de membros com uma API que libera e retira o acesso.',
			),
			...deliveryNote(say),
		].join('\n\n'),
		beforePublishing(say, [...deliverySteps(say), publishNote(say)]),
		addressNote(say),
	],
	chains: delivery(say),
});

/** Form, PIX and access in one workflow. Its trigger receives the webhooks of its charges and of the checkout's sales. */
export const sellAndDeliver: Recipe = (say) => {
	const form = orderForm(say, say('access', 'acesso'));
	// Without a published trigger nobody would deliver, so the charge is refused.
	const charge = chargeOrder(say, '$json', { webhooksGoTo: 'trigger' });
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
					'## Sell and deliver\nA customer fills in the order form and gets the PIX on the page and by e-mail. The payment starts the lower half, even days later. So does a sale of the same product in the checkout.',
					'## Vender e entregar\nO cliente preenche o formulário e recebe o Pix na página e por e-mail. Quando o pagamento cai, mesmo dias depois, a parte de baixo executa. Uma venda do mesmo produto no checkout também inicia a parte de baixo.',
				),
				...deliveryNote(say),
				say(
					'**Do not add Wait for Payment here**: the payment already starts the lower half, and the customer would get the delivery twice.',
					'**Não coloque Wait for Payment aqui**: o pagamento já inicia a parte de baixo, e o cliente receberia a entrega duas vezes.',
				),
			].join('\n\n'),
			beforePublishing(say, [
				say(
					'*Charge by PIX*: choose your credential and an offer of the product that you deliver.',
					'*Gerar Pix*: escolha sua credencial e uma oferta do produto que você entrega.',
				),
				say(
					'*Send the PIX*: choose your SMTP credential and enter your sender address.',
					'*Enviar o Pix*: escolha sua credencial SMTP e escreva seu endereço de remetente.',
				),
				...deliverySteps(say),
				say(
					'Publish it, open the **Production URL** of *Order form* and order with your own data: this makes a real charge. Send customers that URL.',
					'Publique, abra a **Production URL** de *Formulário do pedido* e faça um pedido com seus próprios dados: isso gera uma cobrança de verdade. É essa URL que você envia aos clientes.',
				),
				say(
					'For sales of the checkout, copy the **production URL** of *When a sale changes* to the webhook settings of your platform.',
					'Para as vendas do checkout, copie a **production URL** de *Quando uma venda muda* para o cadastro de webhooks da sua plataforma.',
				),
			]),
			notChargedNote(say),
		],
		chains: [
			[form, charge, pixPage(say, next), text, mailPix(say, text)],
			[output(charge, 1), ...notChargedSteps(say, form, charge)],
			...delivery(say),
		],
	};
};
