import { chargeOrder, message, orderForm, waitFor, words } from './parts';
import { notChargedSteps, pixPage } from './checkout';
import { from, off, output, type Node, type Say, type Workflow } from './workflow';

/** What differs between e-mail, WhatsApp and other channels. */
interface Channel {
	name: string;
	/** The beginning of the first note. */
	what: string;
	/** Set-up steps for the channel's own nodes. */
	steps: string[];
	notes?: string[];
	/** The end of the address of the form. */
	recipe: string;
	/** The sentence on the PIX page about what happens next. */
	next: string;
	/** The nodes that send. */
	send(message: Node): { pix: Node[]; confirm: Node[] };
}

/** Charges an order of the form, sends the PIX, waits for the payment and confirms it. */
export function charging(
	say: Say,
	{ name, what, steps, notes = [], recipe, next, send }: Channel,
): Workflow {
	const form = orderForm(say, recipe);
	const charge = chargeOrder(say);
	const text = message(say, `${from(form)}.whatsapp`);
	const { pix, confirm } = send(text);
	const wait = waitFor(say, charge);
	return {
		name,
		notes: [[what, deliverNote(say)].join('\n\n'), stepsNote(say, steps), ...notes],
		chains: [
			[form, charge, pixPage(say, next), text, ...pix.map(off), wait],
			[output(wait, 1), ...confirm.map(off)],
			[output(charge, 1), ...notChargedSteps(say, form, charge)],
		],
	};
}

/** Where to put the delivery, and what comes twice. */
export function deliverNote(say: Say): string {
	return say(
		'**Deliver after Paid**, and only what may come twice, such as access: a form sent again on the same day passes here again.',
		'**Entregue depois de Paid**, e só o que pode ir duas vezes, como acesso: um formulário reenviado no mesmo dia passa aqui de novo.',
	);
}

/** The numbered steps of a note. */
export function setUpNote(say: Say, steps: string[]): string {
	const numbered = steps.map((step, index) => `${index + 1}. ${step}`);
	return [say('## Set it up', '## Como configurar'), ...numbered].join('\n');
}

/** The set-up steps of a recipe with the order form. After the first, the form can be tried. */
export function stepsNote(say: Say, own: string[]): string {
	return setUpNote(say, [
		`${say(
			'*Charge by PIX*, *Wait for the payment*: your credential and offer.',
			'*Gerar Pix*, *Aguardar o pagamento*: sua credencial e sua oferta.',
		)} ${tryIt(say)}`,
		...own,
		sendLink(say),
	]);
}

export function tryIt(say: Say): string {
	return say(
		'**Execute workflow** then opens the form; the charge is real.',
		'**Execute workflow** já abre o formulário; a cobrança é real.',
	);
}

export function sendLink(say: Say): string {
	return say(
		'Publish, and send customers the **Production URL** of *Order form*.',
		'Publique e envie aos clientes a **Production URL** de *Formulário do pedido*.',
	);
}

/** Nodes of a service that still has to be chosen are deactivated, because one of them would stop the whole run. */
export function activate(say: Say): string {
	return say('Then activate: select, press **D**.', 'Depois ative: selecione e tecle **D**.');
}

/** When WhatsApp delivers a message that is no template. */
export function windowNote(say: Say): string {
	return say(
		'**Only to people who wrote to your number in the last 24 hours.** Others get templates alone (error 131047), sometimes with a green node.',
		'**Só para quem escreveu ao seu número nas últimas 24 horas.** Os outros só recebem modelos (erro 131047), às vezes com o nó verde.',
	);
}

/** Opens WhatsApp's 24 hours for a first run with one's own phone. */
export function openWindowStep(say: Say): string {
	return say(
		'From your phone, first send "hi" to that number.',
		'Do seu celular, mande antes um "oi" para esse número.',
	);
}

/** How a template shows the code: on a line of its own, because WhatsApp copies whole messages. */
export function codeLine(say: Say, code: string): string {
	return `\n\n${code}\n\n${say(
		'Copy only that line and paste it in your banking app under Pix Copia e Cola.',
		'Copie só essa linha e cole no app do banco, em Pix Copia e Cola.',
	)}`;
}

/** The variables of a template, in the order in which the recipes send their values. */
export const VARIABLES = { name: '{{1}}', amount: '{{2}}', product: '{{3}}', code: '{{4}}' };

/** The variables of a template for a message. */
export function variablesOf(say: Say, message: Node): string[] {
	const { name, amount, product, code } = words(say, message);
	return [name, amount, product, code];
}
