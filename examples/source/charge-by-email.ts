import { activate, charging } from './charging';
import { CONTINUES, RETRIED, sendEmail } from './nodes';
import { html, TEXTS, TO_CHOOSE, words } from './parts';
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
	name: string,
	{ to, subject, content, picture }: Mail,
	more: Node['more'] = CONTINUES,
): Node {
	const parameters = {
		fromEmail: TO_CHOOSE,
		toEmail: `=${to}`,
		subject: `=${subject}`,
		emailFormat: 'html',
		html: `=${content}`,
		options: { appendAttribution: false, ...(picture ? { attachments: picture } : {}) },
	};
	return sendEmail(name, parameters, more);
}

/** The charge as a picture and as text. A customer without this e-mail cannot pay, so the execution fails if it cannot be sent. */
export function mailPix(say: Say, message: Node): Node {
	const { email: to, amount } = words(say, message);
	const shown = words(say, message, html);
	const subject = say(`Your PIX of ${amount}`, `Seu Pix de ${amount}`);
	const content = `<p>${TEXTS.pix(say, shown)}</p><p><img src="cid:qrCode" alt="QR Code" width="280"></p><p><code>${shown.code}</code></p>`;
	const name = say('Send the PIX', 'Enviar o Pix');
	return mail(name, { to, subject, content, picture: 'qrCode' }, RETRIED);
}

const nextByEmail = (say: Say): string =>
	say(
		'We have sent it to your e-mail, too. Once the payment is there, you get an e-mail with the next step. You can close this page.',
		'Também enviamos para o seu e-mail. Assim que o pagamento cair, você recebe um e-mail com o próximo passo. Pode fechar esta página.',
	);

/** The charge by e-mail: its QR code as a picture in the mail, its code as text. */
export const chargeByEmail: Recipe = (say) =>
	charging(say, {
		name: say('Charge by e-mail, with the QR code', 'Cobrar por e-mail, com o QR Code'),
		what: say(
			'## Charge by e-mail\nThe PIX is on the page and in an e-mail. Another e-mail confirms the payment.',
			'## Cobrar por e-mail\nO Pix aparece na página e vai por e-mail. Outro e-mail confirma o pagamento.',
		),
		steps: [
			`${say(
				'The two e-mails: your SMTP credential and sender address.',
				'Os dois e-mails: sua credencial SMTP e seu endereço de remetente.',
			)} ${activate(say)}`,
		],
		recipe: 'email',
		next: nextByEmail(say),
		send(message) {
			const { email: to, product } = words(say, message);
			const subject = say(`Payment confirmed: ${product}`, `Pagamento confirmado: ${product}`);
			const content = `<p>${TEXTS.paid(say, words(say, message, html))}</p>`;
			const confirm = say('Confirm the payment', 'Confirmar o pagamento');
			return {
				pix: [mailPix(say, message)],
				confirm: [mail(confirm, { to, subject, content })],
			};
		},
	});
