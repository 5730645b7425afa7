import { charging } from './charging';
import { CONTINUES, sendEmail } from './nodes';
import { html, TEXTS, words } from './parts';
import type { Recipe } from './workflow';

/** The charge by e-mail: its QR code as a picture in the mail, its code as text. */
export const chargeByEmail: Recipe = (say) => {
	const mail = (name: string, to: string, subject: string, content: string, picture?: string) => {
		const parameters = {
			fromEmail: say('Your shop <shop@example.com>', 'Sua loja <loja@example.com>'),
			toEmail: `=${to}`,
			subject: `=${subject}`,
			emailFormat: 'html',
			html: `=${content}`,
			options: { appendAttribution: false, ...(picture ? { attachments: picture } : {}) },
		};
		return sendEmail(name, parameters, CONTINUES);
	};
	return charging(say, {
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
			const { email, amount, product } = words(say, message);
			const shown = words(say, message, html);
			return {
				pix: [
					mail(
						say('Send the PIX', 'Enviar o Pix'),
						email,
						say(`Your PIX of ${amount}`, `Seu Pix de ${amount}`),
						`<p>${TEXTS.pix(say, shown)}</p><p><img src="cid:qrCode" alt="QR Code" width="280"></p><p><code>${shown.code}</code></p>`,
						'qrCode',
					),
				],
				confirm: [
					mail(
						say('Confirm the payment', 'Confirmar o pagamento'),
						email,
						say(`Payment confirmed: ${product}`, `Pagamento confirmado: ${product}`),
						`<p>${TEXTS.paid(say, shown)}</p>`,
					),
				],
				apologize: [
					mail(
						say('Tell the customer', 'Avisar o cliente'),
						customer.email,
						say('We received your order', 'Recebemos seu pedido'),
						`<p>${TEXTS.notCharged(say)}</p>`,
					),
				],
			};
		},
	});
};
