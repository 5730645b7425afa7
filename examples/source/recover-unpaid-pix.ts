import {
	codeLine,
	deliverNote,
	openWindowStep,
	stepsNote,
	VARIABLES,
	variablesOf,
	windowNote,
} from './charging';
import { editFields, when } from './nodes';
import {
	chargeOrder,
	CLOSES,
	html,
	message,
	minutesByDay,
	OPENS,
	orderForm,
	tellTeam,
	TEXTS,
	waitFor,
	whatsAppPicture,
	whatsAppTemplate,
	whatsAppText,
	words,
} from './parts';
import { notChargedSteps, pixPage } from './checkout';
import { from, off, output, type Recipe } from './workflow';

/** Minutes before each of the three reminders, and before the team is informed. */
const DELAYS = [15, 180, 1440, 1440];

/** Reminds a customer who has not paid, by day, until the payment or the last reminder. */
export const recoverUnpaidPix: Recipe = (say) => {
	const start = orderForm(say, say('reminder', 'lembrete'));
	const charge = chargeOrder(say);
	const text = message(say, `${from(start)}.whatsapp`);
	const told = words(say, text);
	const { name, amount, product, code, whatsapp } = told;
	const picture = whatsAppPicture(
		say('Send the QR code', 'Enviar o QR Code'),
		whatsapp,
		TEXTS.pix(say, told),
	);
	const sendCode = whatsAppText(say('Send the code', 'Enviar o código'), whatsapp, code);
	const plan = editFields(say('Plan the next reminder', 'Planejar o próximo lembrete'), {
		[say('round', 'rodada')]: '={{ $runIndex + 1 }}',
		[say('minutes', 'minutos')]: `={{ ${minutesByDay(`[${DELAYS.join(', ')}][$runIndex]`)} }}`,
	});
	const wait = waitFor(say, charge, {
		timeLimit: `={{ $json.${say('minutes', 'minutos')} }}`,
		timeLimitUnit: 'minutes',
	});
	const confirm = whatsAppText(
		say('Confirm the payment', 'Confirmar o pagamento'),
		whatsapp,
		TEXTS.paid(say, told),
	);
	const again = when(
		say('Remind once more?', 'Lembrar mais uma vez?'),
		`$json.timed_out && $runIndex < ${DELAYS.length - 1}`,
	);
	const isLast = when(
		say('The last reminder?', 'Último lembrete?'),
		`$runIndex === ${DELAYS.length - 2}`,
	);
	const reminders = [
		TEXTS.stillOpen(say, told),
		say(
			`Hi, ${name}! Your order (${product}) is almost done: only the PIX of ${amount} is missing. If you have paid, please ignore this. Here is the code.`,
			`Oi, ${name}! Seu pedido (${product}) está quase lá: falta só o Pix de ${amount}. Se já pagou, desconsidere. Segue o código.`,
		),
	].map((reminder) => `\`${reminder.replace(/\{\{ (.*?) \}\}/g, '${$1}')}\``);
	const remind = whatsAppText(
		say('Send the reminder', 'Enviar o lembrete'),
		whatsapp,
		`{{ [${reminders.join(', ')}][$runIndex] }}`,
	);
	const codeAgain = whatsAppText(say('Send the code again', 'Reenviar o código'), whatsapp, code);
	const template = say('last_reminder', 'ultimo_lembrete');
	const remindLast = whatsAppTemplate(
		say('Send the last reminder', 'Enviar o último lembrete'),
		whatsapp,
		`${template}|${say('en_US', 'pt_BR')}`,
		variablesOf(say, text),
	);
	const lastReminder = say(
		`Hi, ${VARIABLES.name}! This is the last reminder of your PIX of ${VARIABLES.amount} (${VARIABLES.product}). If you have paid or changed your mind, please ignore this: I will not write again. If you still want it, here is the code.`,
		`Oi, ${VARIABLES.name}! Este é o último lembrete do seu Pix de ${VARIABLES.amount} (${VARIABLES.product}). Se já pagou ou mudou de ideia, desconsidere: não mando mais. Se ainda quer, segue o código.`,
	);
	const next = say(
		'We have sent it by WhatsApp, too, and confirm there once the payment has arrived. You can close this page.',
		'Também enviamos por WhatsApp e confirmamos lá assim que o pagamento cair. Pode fechar esta página.',
	);
	const shown = words(say, text, html);
	const giveUp = tellTeam(
		say('Tell the team', 'Avisar a equipe'),
		say(
			`⌛ <b>Not paid</b>\n${shown.name}, ${shown.amount}, ${shown.product}\nWhatsApp: ${shown.whatsapp}`,
			`⌛ <b>Pix não pago</b>\n${shown.name}, ${shown.amount}, ${shown.product}\nWhatsApp: ${shown.whatsapp}`,
		),
	);
	return {
		name: say('Recover an unpaid PIX', 'Recuperar Pix não pago'),
		notes: [
			[
				say(
					`## Recover an unpaid PIX\nReminds after 15 minutes, 3 hours and a day, from ${OPENS} a.m. to ${CLOSES - 12} p.m.; a day later, tells the team. The minutes are in *Plan the next reminder*, the texts in *Send the reminder*.`,
					`## Recuperar Pix não pago\nLembra depois de 15 minutos, 3 horas e um dia, entre ${OPENS}h e ${CLOSES}h; um dia depois, avisa a equipe. Os minutos estão em *Planejar o próximo lembrete*, os textos em *Enviar o lembrete*.`,
				),
				deliverNote(say),
			].join('\n\n'),
			stepsNote(say, [
				say(
					'The six WhatsApp nodes: your credential and number; in *Send the last reminder*, your template.',
					'Os seis nós do WhatsApp: sua credencial e seu número; em *Enviar o último lembrete*, o seu modelo.',
				),
				`${say(
					'*Tell the team*: your Telegram credential and group.',
					'*Avisar a equipe*: sua credencial do Telegram e seu grupo.',
				)} ${say('Then activate all seven: select, press **D**.', 'Depois ative os sete: selecione e tecle **D**.')}`,
				openWindowStep(say),
			]),
			[
				say('## WhatsApp and its 24 hours', '## O WhatsApp e as 24 horas'),
				windowNote(say),
				say(
					`The last reminder comes later, so create its template in the WhatsApp Manager: \`${template}\` (Utility, English (US), exactly so):`,
					`O último lembrete vem depois disso: crie o modelo no Gerenciador do WhatsApp: \`${template}\` (Utilidade, Português (BR), exatamente assim):`,
				),
				lastReminder + codeLine(say, VARIABLES.code),
			].join('\n\n'),
		],
		chains: [
			[
				start,
				charge,
				pixPage(say, next),
				text,
				off(picture),
				off(sendCode),
				plan,
				wait,
				again,
				isLast,
				off(remindLast),
				plan,
			],
			[output(wait, 1), off(confirm)],
			[output(isLast, 1), off(remind), off(codeAgain), plan],
			[output(again, 1), off(giveUp)],
			[output(charge, 1), ...notChargedSteps(say, start, charge)],
		],
	};
};
