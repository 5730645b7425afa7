import {
	codeLine,
	deliverNote,
	notChargedNote,
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
import { from, output, type Recipe } from './workflow';

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
					`## Recover an unpaid PIX\nA customer who has not paid gets three reminders: 15 minutes after the PIX, 3 hours after the first and a day after the second, only from ${OPENS} a.m. to ${CLOSES - 12} p.m. A day after the last reminder, the team is told.`,
					`## Recuperar Pix não pago\nQuem não pagou recebe três lembretes: 15 minutos depois do Pix, 3 horas depois do primeiro e um dia depois do segundo, só entre ${OPENS}h e ${CLOSES}h. Um dia depois do último lembrete, a equipe fica sabendo.`,
				),
				say(
					'Right before each reminder the payment is checked once more: a customer who has paid gets none.',
					'Logo antes de cada lembrete o pagamento é conferido mais uma vez: quem já pagou não recebe nada.',
				),
				deliverNote(say),
			].join('\n\n'),
			stepsNote(say, [
				say(
					'The six WhatsApp nodes: choose your credential and the number that sends.',
					'Nos seis nós do WhatsApp: escolha sua credencial e o número que envia.',
				),
				say(
					'*Send the last reminder*: choose your template, see the note about the 24 hours.',
					'*Enviar o último lembrete*: escolha o seu modelo, veja a nota sobre as 24 horas.',
				),
				say(
					'*Tell the team*: choose your Telegram credential and enter your group.',
					'*Avisar a equipe*: escolha sua credencial do Telegram e o seu grupo.',
				),
				say(
					'In the settings of the workflow, check the time zone.',
					'Nas configurações do fluxo, confira o fuso horário.',
				),
				openWindowStep(say),
			]),
			[
				say('## WhatsApp and its 24 hours', '## O WhatsApp e as 24 horas'),
				windowNote(say),
				say(
					`The last reminder is always later, so it is a template. Create it in the WhatsApp Manager of Meta: \`${template}\`, category Utility, language English (US), with exactly this text:`,
					`O último lembrete sempre passa disso, por isso é um modelo. Crie no Gerenciador do WhatsApp da Meta: \`${template}\`, categoria Utilidade, idioma Português (BR), exatamente com este texto:`,
				),
				lastReminder + codeLine(say, VARIABLES.code),
			].join('\n\n'),
			say(
				`## Change the times\nThe minutes are in *Plan the next reminder*: \`[${DELAYS.join(', ')}]\`. The texts of the first two reminders are in *Send the reminder*.`,
				`## Mudar os horários\nOs minutos estão em *Planejar o próximo lembrete*: \`[${DELAYS.join(', ')}]\`. Os textos dos dois primeiros lembretes estão em *Enviar o lembrete*.`,
			),
			notChargedNote(say),
		],
		chains: [
			[
				start,
				charge,
				pixPage(say, next),
				text,
				picture,
				sendCode,
				plan,
				wait,
				again,
				isLast,
				remindLast,
				plan,
			],
			[output(wait, 1), confirm],
			[output(isLast, 1), remind, codeAgain, plan],
			[output(again, 1), giveUp],
			[output(charge, 1), ...notChargedSteps(say, start, charge)],
		],
	};
};
