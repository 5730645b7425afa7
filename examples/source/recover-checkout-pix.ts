import { mail } from './charge-by-email';
import { codeLine, VARIABLES, variablesOf } from './charging';
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
			[
				say(
					`## Recover a PIX made at the checkout\nA customer who made a PIX in your checkout and has not paid it after ${MINUTES} minutes gets one reminder with the code, only from ${OPENS} a.m. to ${CLOSES - 12} p.m. Before it is sent, the sale is read again: a paid one is left alone.`,
					`## Recuperar Pix gerado no checkout\nQuem gerou um Pix no seu checkout e não pagou em ${MINUTES} minutos recebe um lembrete com o código, só entre ${OPENS}h e ${CLOSES}h. Antes de enviar, a venda é consultada de novo: quem já pagou não recebe nada.`,
				),
				say(
					'Your platform must also send webhooks for sales that wait for payment. For charges of your own workflows, use *Recover an unpaid PIX*.',
					'A plataforma precisa enviar webhooks também das vendas que aguardam pagamento. Para cobranças dos seus próprios fluxos, use *Recuperar Pix não pago*.',
				),
			].join('\n\n'),
			[
				say('## Before you publish it', '## Antes de publicar'),
				say(
					'1. *When a sale changes* and *Read it again*: choose your credential.',
					'1. *Quando uma venda muda* e *Consultar de novo*: escolha sua credencial.',
				),
				say(
					'2. *Remind by e-mail*: choose your SMTP credential and enter your sender address.',
					'2. *Lembrar por e-mail*: escolha sua credencial SMTP e escreva seu endereço de remetente.',
				),
				`3. ${publishNote(say)}`,
			].join('\n'),
			addressNote(say),
			[
				say(
					`## By WhatsApp\n**If you sell abroad, leave it off**: your platform may drop the + of a number, and then a number of Peru looks like one of Porto Alegre.\n\nThis customer has not written to you, so WhatsApp takes only a template. Create it in the WhatsApp Manager of Meta: \`${template}\`, category Utility, language English (US), with exactly this text. When it is approved, activate *Remind by WhatsApp (template)* (select it and press **D**), and choose your credential, the number that sends and the template.`,
					`## Por WhatsApp\n**Se você vende para fora do Brasil, deixe desativado**: a plataforma pode tirar o + do número, e aí um número do Peru parece um de Porto Alegre.\n\nEsse cliente não escreveu para você, então o WhatsApp só aceita um modelo. Crie no Gerenciador do WhatsApp da Meta: \`${template}\`, categoria Utilidade, idioma Português (BR), exatamente com este texto. Quando for aprovado, ative *Lembrar por WhatsApp (modelo)* (selecione e tecle **D**) e escolha sua credencial, o número que envia e o modelo.`,
				),
				TEXTS.stillOpen(say, VARIABLES) + codeLine(say, VARIABLES.code),
			].join('\n\n'),
		],
		chains: [[start, pause, read, isOpen, text, byEmail, isReachable, byWhatsApp]],
	};
};
