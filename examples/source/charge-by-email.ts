import { charging, type Contact } from './charging';
import { CONTINUES, RETRIED, sendEmail } from './nodes';
import { html, TEXTS, words } from './parts';
import type { Node, Recipe, Say } from './workflow';

interface Mail {
	to: string;
	subject: string;
	content: string;
	/** The name of the file in the item that is attached. */
	picture?: string;
}

/** Sends a mail in HTML. */
export function mail(
	say: Say,
	name: string,
	{ to, subject, content, picture }: Mail,
	more: Node['more'] = CONTINUES,
): Node {
	const parameters = {
		fromEmail: say('Your shop <shop@example.com>', 'Sua loja <loja@example.com>'),
		toEmail: `=${to}`,
		subject: `=${subject}`,
		emailFormat: 'html',
		html: `=${content}`,
		options: { appendAttribution: false, ...(picture ? { attachments: picture } : {}) },
	};
	return sendEmail(name, parameters, more);
}

/** The charge as a picture and as text. Who does not get it cannot pay: a mail that cannot be sent fails the execution. */
export function mailPix(say: Say, message: Node): Node {
	const { email: to, amount } = words(say, message);
	const shown = words(say, message, html);
	const subject = say(`Your PIX of ${amount}`, `Seu Pix de ${amount}`);
	const content = `<p>${TEXTS.pix(say, shown)}</p><p><img src="cid:qrCode" alt="QR Code" width="280"></p><p><code>${shown.code}</code></p>`;
	const name = say('Send the PIX', 'Enviar o Pix');
	return mail(say, name, { to, subject, content, picture: 'qrCode' }, RETRIED);
}

/** Asks the customer to wait for a person. */
export function mailNotCharged(say: Say, { email: to }: Contact): Node {
	const subject = say('We received your order', 'Recebemos seu pedido');
	const content = `<p>${TEXTS.notCharged(say)}</p>`;
	return mail(say, say('Tell the customer', 'Avisar o cliente'), { to, subject, content });
}

/** The charge by e-mail: its QR code as a picture in the mail, its code as text. */
export const chargeByEmail: Recipe = (say) =>
	charging(say, {
		name: say('Charge by e-mail, with the QR code', 'Cobrar por e-mail, com o QR Code'),
		what: say(
			'## Charge by e-mail\nA customer fills in the order form. The PIX goes out by e-mail, as a picture and as a code to copy.',
			'## Cobrar por e-mail\nO cliente preenche o formulário do pedido. O Pix sai por e-mail, com QR Code e código para copiar.',
		),
		steps: [
			say(
				'The three e-mails: choose your SMTP credential and enter your sender address.',
				'Nos três e-mails: escolha sua credencial SMTP e escreva seu endereço de remetente.',
			),
		],
		send(message, customer) {
			const { email: to, product } = words(say, message);
			const subject = say(`Payment confirmed: ${product}`, `Pagamento confirmado: ${product}`);
			const content = `<p>${TEXTS.paid(say, words(say, message, html))}</p>`;
			const confirm = say('Confirm the payment', 'Confirmar o pagamento');
			return {
				pix: [mailPix(say, message)],
				confirm: [mail(say, confirm, { to, subject, content })],
				apologize: [mailNotCharged(say, customer)],
			};
		},
	});
