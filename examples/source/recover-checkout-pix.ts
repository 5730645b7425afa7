import { mail } from './charge-by-email';
import { codeLine, setUpNote, VARIABLES, variablesOf } from './charging';
import { getTransaction, only, RETRIED, waitMinutes } from './nodes';
import {
	addressNote,
	CLOSES,
	html,
	message,
	minutesByDay,
	OPENS,
	publishNote,
	saleTrigger,
	TEXTS,
	whatsAppTemplate,
	words,
} from './parts';
import { from, off, type Recipe } from './workflow';

const MINUTES = 30;

/** Reminds, once, whoever made a PIX in the platform's own checkout and has not paid it. */
export const recoverCheckoutPix: Recipe = (say) => {
	const start = saleTrigger(say, ['waiting'], { filters: { paymentMethods: ['pix'] } });
	const pause = waitMinutes(
		say(`Wait ${MINUTES} minutes`, `Esperar ${MINUTES} minutos`),
		`={{ ${minutesByDay(`${MINUTES}`)} }}`,
	);
	const read = getTransaction(
		say('Read it again', 'Consultar de novo'),
		{ transactionHash: '={{ $json.hash }}', options: { qrCodeImage: true } },
		RETRIED,
	);
	// A sale that was under review in between starts the workflow a second time: one reminder is enough.
	const isOpen = only(
		say('Still not paid', 'Ainda não paga'),
		`[${from(start)}, $json].every((sale) => sale.payment_status === 'waiting_payment') && !!$json.pix_qr_code`,
	);
	const text = message(say);
	const { email: to, amount } = words(say, text);
	const shown = words(say, text, html);
	const byEmail = mail(say('Remind by e-mail', 'Lembrar por e-mail'), {
		to,
		subject: say(
			`Your PIX of ${amount} is still open`,
			`Seu Pix de ${amount} ainda está em aberto`,
		),
		content: `<p>${TEXTS.stillOpen(say, shown)}</p><p><img src="cid:qrCode" alt="QR Code" width="280"></p><p><code>${shown.code}</code></p>`,
		picture: 'qrCode',
	});
	// A wrong guess would send the code to a stranger.
	const isReachable = only(
		say('Has a WhatsApp number', 'Tem número de WhatsApp'),
		`!!${from(text)}.whatsapp`,
	);
	const template = say('pix_open', 'pix_em_aberto');
	const byWhatsApp = off(
		whatsAppTemplate(
			say('Remind by WhatsApp (template)', 'Lembrar por WhatsApp (modelo)'),
			words(say, text).whatsapp,
			`${template}|${say('en_US', 'pt_BR')}`,
			variablesOf(say, text),
		),
	);
	return {
		name: say('Recover a PIX made at the checkout', 'Recuperar Pix gerado no checkout'),
		notes: [
			say(
				`## Recover a PIX made at the checkout\nA customer who has not paid after ${MINUTES} minutes gets one reminder with the code, from ${OPENS} a.m. to ${CLOSES - 12} p.m. Your platform must send webhooks for sales that wait for payment.`,
				`## Recuperar Pix gerado no checkout\nQuem não pagou em ${MINUTES} minutos recebe um lembrete com o código, entre ${OPENS}h e ${CLOSES}h. A plataforma precisa enviar webhooks das vendas que aguardam pagamento.`,
			),
			setUpNote(say, [
				say(
					'*When a sale changes*, *Read it again*: your credential.',
					'*Quando uma venda muda*, *Consultar de novo*: sua credencial.',
				),
				say(
					'*Remind by e-mail*: your SMTP credential and sender address.',
					'*Lembrar por e-mail*: sua credencial SMTP e seu endereço de remetente.',
				),
				publishNote(say),
			]),
			addressNote(say),
			[
				say(
					`## By WhatsApp\nNot if you sell abroad: without its + a number of Peru looks like one of Porto Alegre. Create this template in the WhatsApp Manager: \`${template}\` (Utility, English (US), exactly so). Then activate *Remind by WhatsApp (template)* (**D**) and choose it.`,
					`## Por WhatsApp\nNão se você vende para fora: sem o + um número do Peru parece um de Porto Alegre. Crie este modelo no Gerenciador do WhatsApp: \`${template}\` (Utilidade, Português (BR), exatamente assim). Depois ative *Lembrar por WhatsApp (modelo)* (**D**) e escolha o modelo.`,
				),
				TEXTS.stillOpen(say, VARIABLES) + codeLine(say, VARIABLES.code),
			].join('\n\n'),
		],
		chains: [[start, pause, read, isOpen, text, byEmail, isReachable, byWhatsApp]],
	};
};
