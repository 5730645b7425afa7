import { editFields, when } from './nodes';
import {
	chargeOrder,
	html,
	ifPaid,
	message,
	orderForm,
	tellTeam,
	TEXTS,
	waitFor,
	whatsAppPicture,
	whatsAppText,
	words,
} from './parts';
import { from, output, type Recipe } from './workflow';

/** In minutes: a quarter of an hour, three hours, a day, and a day more before it gives up. */
const DELAYS = [15, 180, 1440, 1440];
const OPENS = 8;
const CLOSES = 20;

/** Reminds a customer who has not paid, by day, until the payment or the last reminder. */
export const recoverUnpaidPix: Recipe = (say) => {
	const start = orderForm(say);
	const charge = chargeOrder(say);
	const text = message(say);
	const told = words(say, text);
	const { name, amount, product, code, whatsapp } = told;
	const picture = whatsAppPicture(
		say,
		say('Send the QR code', 'Enviar o QR Code'),
		whatsapp,
		TEXTS.pix(say, told),
	);
	const sendCode = whatsAppText(say, say('Send the code', 'Enviar o código'), whatsapp, code);
	const plan = editFields(say('Plan the next reminder', 'Planejar o próximo lembrete'), {
		[say('round', 'rodada')]: '={{ $runIndex + 1 }}',
		[say('minutes', 'minutos')]:
			`={{ (() => { const at = $now.plus({ minutes: [${DELAYS.join(', ')}][$runIndex] }); const opens = at.set({ hour: ${OPENS}, minute: 0, second: 0 }); const then = at.hour < ${OPENS} ? opens : at.hour >= ${CLOSES} ? opens.plus({ days: 1 }) : at; return Math.ceil(then.diff($now, 'minutes').minutes); })() }}`,
	});
	const wait = waitFor(say, charge, {
		timeLimit: `={{ $json.${say('minutes', 'minutos')} }}`,
		timeLimitUnit: 'minutes',
	});
	const paid = ifPaid(say);
	const confirm = whatsAppText(
		say,
		say('Confirm the payment', 'Confirmar o pagamento'),
		whatsapp,
		TEXTS.paid(say, told),
	);
	const again = when(
		say('Remind once more?', 'Lembrar mais uma vez?'),
		`$json.timedOut && $runIndex < ${DELAYS.length - 1}`,
	);
	const reminders = [
		say(
			`Hi, ${name}! Your PIX of ${amount} (${product}) is still open. Do you need help? Here is the code.`,
			`Oi, ${name}! Seu Pix de ${amount} (${product}) ainda está em aberto. Precisa de ajuda? Segue o código.`,
		),
		say(
			`Hi, ${name}! To secure ${product}, only the PIX of ${amount} is missing. Already paid? Please ignore this.`,
			`Oi, ${name}! Para garantir ${product}, falta só o Pix de ${amount}. Já pagou? Pode ignorar.`,
		),
		say(
			`Hi, ${name}! Last reminder of the PIX of ${amount} (${product}).`,
			`Oi, ${name}! Último lembrete do Pix de ${amount} (${product}).`,
		),
	].map((reminder) => `\`${reminder.replace(/\{\{ (.*?) \}\}/g, '${$1}')}\``);
	const remind = whatsAppText(
		say,
		say('Send the reminder', 'Enviar o lembrete'),
		whatsapp,
		`{{ [${reminders.join(', ')}][$runIndex] }}`,
	);
	const codeAgain = whatsAppText(
		say,
		say('Send the code again', 'Reenviar o código'),
		whatsapp,
		code,
	);
	const giveUp = tellTeam(
		say,
		say('Tell the team', 'Avisar a equipe'),
		say(
			`⌛ <b>Not paid</b>\n${html(`${from(text)}.name`)}, ${html(`${from(text)}.amount`)}, ${html(`${from(text)}.product`)}\nWhatsApp: ${whatsapp}`,
			`⌛ <b>Pix não pago</b>\n${html(`${from(text)}.nome`)}, ${html(`${from(text)}.valor`)}, ${html(`${from(text)}.produto`)}\nWhatsApp: ${whatsapp}`,
		),
	);
	return {
		name: say('Recover an unpaid PIX', 'Recuperar Pix não pago'),
		notes: [
			say(
				`## Recover an unpaid PIX\nA customer who has not paid is reminded after 15 minutes, 3 hours and on the next day, only between ${OPENS} and ${CLOSES} o'clock. A day after the last reminder the team is told.\n\nThe payment ends it at once, and **only *Paid?* on its true branch says that it is paid**. Put what you deliver behind *Confirm the payment*.`,
				`## Recuperar Pix não pago\nQuem não pagou recebe um lembrete depois de 15 minutos, de 3 horas e no dia seguinte, só entre ${OPENS} e ${CLOSES} horas. Um dia depois do último lembrete, a equipe fica sabendo.\n\nO pagamento encerra tudo na hora, e **só a saída true de *Pago?* quer dizer que foi pago**. O que você entrega vem depois de *Confirmar o pagamento*.`,
			),
			say(
				'## Before you run it\n1. *Charge by PIX*: choose your credential and your offer.\n2. *Wait for the payment*: choose your credential.\n3. The WhatsApp nodes: choose your credential and the number that sends. More than 24 hours after the last message of the customer WhatsApp takes only templates: see the recipe with a template.\n4. *Tell the team*: choose your Telegram credential and enter your group.\n5. In the settings of the workflow, check the time zone.',
				'## Antes de executar\n1. *Gerar Pix*: escolha sua credencial e sua oferta.\n2. *Aguardar o pagamento*: escolha sua credencial.\n3. Nos nós do WhatsApp: escolha sua credencial e o número que envia. Mais de 24 horas depois da última mensagem do cliente o WhatsApp só aceita modelos: veja a receita com modelo.\n4. *Avisar a equipe*: escolha sua credencial do Telegram e o seu grupo.\n5. Nas configurações do fluxo, confira o fuso horário.',
			),
			say(
				'## Change the times\nThe minutes stand in *Plan the next reminder*: `[15, 180, 1440, 1440]`. The texts stand in *Send the reminder*, one for each round.',
				'## Mudar os horários\nOs minutos estão em *Planejar o próximo lembrete*: `[15, 180, 1440, 1440]`. Os textos estão em *Enviar o lembrete*, um para cada rodada.',
			),
		],
		chains: [
			[start, charge, text, picture, sendCode, plan, wait, paid, confirm],
			[output(paid, 1), again, remind, codeAgain, plan],
			[output(again, 1), giveUp],
		],
	};
};
