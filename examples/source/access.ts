import { branches, httpRequest, RETRIED, sendEmail } from './nodes';
import { onlyMyProduct, publishNote, saleTrigger, TEXTS } from './parts';
import { from, output, type Node, type Recipe, type Say } from './workflow';

/** Statuses on the way to a refund or a chargeback are left alone: they may still end well. */
const REVERSED = ['refunded', 'chargeback', 'chargedback'];

interface Access {
	what: string;
	how: string;
	/** What opens the access; what follows the last of these tells the customer. */
	grant: Node[];
	revoke: Node;
	/** What else to know, one sentence or more. */
	more?: string;
}

function granting(say: Say, name: string, access: (start: Node) => Access) {
	const start = saleTrigger(say, ['paid', 'reversed'], onlyMyProduct(say));
	const { what, how, grant, revoke, more } = access(start);
	const of = (field: string): string => `${from(start)}.${field}`;
	const decide = branches(say('Paid or refunded?', 'Aprovada ou reembolsada?'), {
		[say('grant', 'liberar')]: `${of('payment_status')} === 'paid'`,
		[say('revoke', 'retirar')]: `${JSON.stringify(REVERSED)}.includes(${of('payment_status')})`,
	});
	const mail = sendEmail(say('Tell the customer', 'Avisar o cliente'), {
		fromEmail: say('Your shop <shop@example.com>', 'Sua loja <loja@example.com>'),
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
	return {
		name,
		notes: [
			[
				what,
				say(
					'A payment grants the access and tells the customer; a refund or a chargeback takes it away. A requested refund or a MED under review changes nothing. If you win a chargeback, restore the access by hand.',
					'A venda aprovada libera o acesso e avisa o cliente; o reembolso ou o chargeback retira o acesso. Pedido de reembolso ou MED em análise não mexe no acesso. Chargeback que você ganha: libere de novo à mão.',
				),
				...(more === undefined ? [] : [more]),
			].join('\n\n'),
			[
				say('## Before you publish it', '## Antes de publicar'),
				say(
					'1. *When a sale changes*: choose your credential, your **product**, and the **lowest amount a customer can pay, coupons and PIX discount included**. Without them, one cent paid for any product would open the access; until you have chosen both, n8n refuses to publish the workflow.',
					'1. *Quando uma venda muda*: escolha sua credencial, seu **produto** e o **menor valor que um cliente pode pagar, já com cupom e desconto no Pix**. Sem isso, um centavo pago por qualquer produto liberaria o acesso; enquanto faltar, o n8n não publica o fluxo.',
				),
				`2. ${how}`,
				say(
					'3. *Tell the customer*: choose your SMTP credential, enter your sender address, and the link of your members area.',
					'3. *Avisar o cliente*: escolha sua credencial SMTP, escreva seu endereço de remetente e o link da sua área de membros.',
				),
				`4. ${publishNote(say)}`,
			].join('\n'),
		],
		chains: [
			[start, decide, ...grant, mail],
			[output(decide, 1), revoke],
		] satisfies ReturnType<Recipe>['chains'],
	};
}

/** A members area with an API for it. */
export const accessByHttp: Recipe = (say) =>
	granting(
		say,
		say('Access after payment, by HTTP', 'Acesso depois do pagamento, por HTTP'),
		(start) => {
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
								{ name: 'email', value: `={{ ${from(start)}.customer_email }}` },
								{ name: 'name', value: `={{ ${from(start)}.customer_name }}` },
								{ name: 'product', value: `={{ ${from(start)}.product_title }}` },
								{ name: 'transaction', value: `={{ ${from(start)}.hash }}` },
							],
						},
						options: {},
					},
					RETRIED,
				);
			return {
				what: say(
					'## Access in your members area\nFor any members area that has an API to grant and revoke the access.',
					'## Acesso na área de membros\nPara qualquer área de membros que tenha uma API (endereço) para liberar e retirar o acesso.',
				),
				how: say(
					'*Grant* and *Revoke the access*: enter the addresses from the documentation of your members area, and choose a *Header Auth* credential.',
					'*Liberar* e *Retirar o acesso*: coloque os endereços que estão na documentação da sua área de membros e escolha uma credencial *Header Auth*.',
				),
				grant: [post(say('Grant the access', 'Liberar o acesso'), 'grant')],
				revoke: post(say('Revoke the access', 'Retirar o acesso'), 'revoke'),
				more: say(
					'If your members area goes by the e-mail alone, a refund revokes everything bought with that e-mail. **Before you press Retry on a failed execution, check that the sale is still paid.**',
					'Se a sua área de membros usa só o e-mail, um reembolso fecha tudo o que esse e-mail comprou. **Antes de clicar em Retry em uma execução com erro, confira se a venda continua paga.**',
				),
			};
		},
	);
