import { sendEmail } from './nodes';
import { chargeOrder, ifPaid, message, orderForm, TEXTS, waitFor, words } from './parts';
import type { Recipe } from './workflow';

/** The charge by e-mail: its QR code as a picture in the mail, its code as text. */
export const chargeByEmail: Recipe = (say) => {
	const start = orderForm(say);
	const charge = chargeOrder(say);
	const text = message(say);
	const told = words(say, text);
	const from = say('Your shop <shop@example.com>', 'Sua loja <loja@example.com>');
	const mail = (name: string, subject: string, html: string, attachments?: string) =>
		sendEmail(name, {
			fromEmail: from,
			toEmail: `=${told.email}`,
			subject: `=${subject}`,
			emailFormat: 'html',
			html: `=${html}`,
			options: { appendAttribution: false, ...(attachments ? { attachments } : {}) },
		});
	const send = mail(
		say('Send the PIX', 'Enviar o Pix'),
		say(`Your PIX of ${told.amount}`, `Seu Pix de ${told.amount}`),
		`<p>${TEXTS.pix(say, told)}</p><p><img src="cid:qrCode" alt="QR Code" width="280"></p><p><code>${told.code}</code></p>`,
		'qrCode',
	);
	const wait = waitFor(say, charge);
	const paid = ifPaid(say);
	const confirm = mail(
		say('Confirm the payment', 'Confirmar o pagamento'),
		say(`Payment confirmed: ${told.product}`, `Pagamento confirmado: ${told.product}`),
		`<p>${TEXTS.paid(say, told)}</p>`,
	);
	return {
		name: say('Charge by e-mail, with the QR code', 'Cobrar por e-mail, com o QR Code'),
		notes: [
			say(
				'## Charge by e-mail\nA customer fills in the order form. The PIX goes out by e-mail, as a picture and as a code to copy. The workflow waits for the payment, up to 24 hours, and confirms it.\n\n**Deliver only behind *Paid?*, on its true branch.**',
				'## Cobrar por e-mail\nO cliente preenche o formulário do pedido. O Pix sai por e-mail, com QR Code e código para copiar. O fluxo aguarda o pagamento por até 24 horas e confirma.\n\n**Entregue só depois de *Pago?*, na saída true.**',
			),
			say(
				'## Before you run it\n1. *Charge by PIX*: choose your credential and your offer.\n2. *Wait for the payment*: choose your credential.\n3. Both e-mails: choose your SMTP credential and enter your sender address.\n4. Press **Execute workflow** and fill in the form with your own data. Publish it when it works.',
				'## Antes de executar\n1. *Gerar Pix*: escolha sua credencial e sua oferta.\n2. *Aguardar o pagamento*: escolha sua credencial.\n3. Nos dois e-mails: escolha sua credencial SMTP e escreva seu endereço de remetente.\n4. Clique em **Execute workflow** e preencha o formulário com seus próprios dados. Publique quando funcionar.',
			),
		],
		chains: [[start, charge, text, send, wait, paid, confirm]],
	};
};
