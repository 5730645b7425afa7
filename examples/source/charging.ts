import { chargeOrder, message, orderForm, waitFor, words } from './parts';
import { notChargedSteps, pixPage } from './checkout';
import { from, output, type Node, type Say, type Workflow } from './workflow';

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
		notes: [
			[
				what,
				say(
					'The workflow then waits up to 24 hours for the payment and confirms it to the customer.',
					'Depois o fluxo aguarda o pagamento por até 24 horas e avisa o cliente quando ele cai.',
				),
				deliverNote(say),
			].join('\n\n'),
			stepsNote(say, steps),
			...notes,
			notChargedNote(say),
		],
		chains: [
			[form, charge, pixPage(say, next), text, ...pix, wait],
			[output(wait, 1), ...confirm],
			[output(charge, 1), ...notChargedSteps(say, form, charge)],
		],
	};
}

/** Where to put the delivery, and which payments it misses. */
export function deliverNote(say: Say): string {
	return say(
		"Put what you deliver between the output **Paid** of *Wait for the payment* and *Confirm the payment* (the + on their connection), so that the customer gets it even if the message cannot be sent.\n\nA payment after that time is not confirmed here: set a longer **Time Limit** in *Wait for the payment*, or check your platform's dashboard.\n\n**A form sent again on the same day comes through here again without a new charge, even after the payment.** Deliver only what may come twice, such as access by e-mail; for license keys or credits use *Sell and deliver*.",
		'Coloque a entrega entre a saída **Paid** de *Aguardar o pagamento* e *Confirmar o pagamento* (o + da linha entre os dois): se a mensagem falhar, o cliente recebe o produto mesmo assim.\n\nQuem pagar depois do prazo não é confirmado aqui: aumente o **Time Limit** em *Aguardar o pagamento* ou confira no painel da plataforma.\n\n**Quem reenvia o formulário no mesmo dia passa por aqui de novo sem nova cobrança, mesmo já tendo pago.** Entregue só o que pode ir duas vezes, como acesso por e-mail; para chave de licença ou créditos, use *Vender e entregar*.',
	);
}

/** The set-up steps of every recipe with the order form, with the recipe's own steps in between. */
export function stepsNote(say: Say, own: string[]): string {
	const steps = [
		say(
			'*Charge by PIX*: choose your credential and your offer.',
			'*Gerar Pix*: escolha sua credencial e sua oferta.',
		),
		say(
			'*Wait for the payment*: choose your credential.',
			'*Aguardar o pagamento*: escolha sua credencial.',
		),
		...own,
		say(
			'Press **Execute workflow** and fill in the form with your own data: this makes a real charge.',
			'Clique em **Execute workflow** e preencha o formulário com seus próprios dados: isso gera uma cobrança de verdade.',
		),
		say(
			'Add your delivery before you publish: the message promises access. After publishing, send customers the **Production URL** of *Order form*.',
			'Antes de publicar, coloque a sua entrega: a mensagem promete o acesso. Depois de publicar, envie aos clientes a **Production URL** de *Formulário do pedido*.',
		),
	].map((step, index) => `${index + 1}. ${step}`);
	return [say('## Before you run it', '## Antes de executar'), ...steps].join('\n');
}

/** What happens to an order that cannot be charged, and what a copy of the form needs. */
export function notChargedNote(say: Say): string {
	return say(
		'## If the PIX cannot be created\nThe page says which field to correct, and leads back to the form. It asks the customer to wait only if the charge may exist. Then, or if nothing in the form is at fault, the execution fails with the reason: let *Errors to the team, by Telegram* tell you, under Settings > **Error workflow**.\n\n**A copy of this workflow needs another address**: *Order form* > Options > **Form Path**.',
		'## Se o Pix não for gerado\nA página diz qual campo corrigir e leva de volta ao formulário. Ela só pede para esperar se a cobrança pode ter sido criada. Nesse caso, ou se o erro não estiver no formulário, a execução falha com o motivo (em inglês): para a equipe ser avisada, use *Erros para a equipe, por Telegram* em Settings > **Error workflow**.\n\n**Uma cópia deste fluxo precisa de outro endereço**: *Formulário do pedido* > Options > **Form Path**.',
	);
}

/** When WhatsApp delivers a message that is no template. */
export function windowNote(say: Say): string {
	return say(
		'**Works only with people who wrote to your number in the last 24 hours**; filling in the form does not count. Otherwise WhatsApp does not deliver (error 131047), sometimes with a green node. Use the template nodes of *Charge by WhatsApp* then.',
		'**Só funciona com quem mandou mensagem ao seu número nas últimas 24 horas**; preencher o formulário não conta. Fora disso o WhatsApp não entrega (erro 131047), às vezes com o nó verde. Nesse caso, use os nós com modelo de *Cobrar por WhatsApp*.',
	);
}

/** Opens WhatsApp's 24 hours for a first run with one's own phone. */
export function openWindowStep(say: Say): string {
	return say(
		'From your phone, first send "hi" to the number that sends.',
		'Do seu celular, mande antes um "oi" para o número que envia.',
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
