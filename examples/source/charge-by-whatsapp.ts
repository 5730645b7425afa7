import type { INodeParameters } from 'n8n-workflow';
import { httpRequest, whatsApp } from './nodes';
import {
	chargeOrder,
	ifPaid,
	message,
	orderForm,
	sendingNumber,
	TEXTS,
	waitFor,
	whatsAppPicture,
	whatsAppText,
	words,
} from './parts';
import type { Node, Recipe, Say, Workflow } from './workflow';

/** What the three ways to send by WhatsApp have in common. */
function charging(
	say: Say,
	name: string,
	notes: [string, string],
	send: (message: Node) => { pix: Node[]; confirm: Node },
): Workflow {
	const charge = chargeOrder(say);
	const text = message(say);
	const { pix, confirm } = send(text);
	const [what, how] = notes;
	const outcome = say(
		'The workflow then waits for the payment, up to 24 hours, and confirms it. **Deliver only behind *Paid?*, on its true branch.**',
		'Depois o fluxo aguarda o pagamento por até 24 horas e confirma. **Entregue só depois de *Pago?*, na saída true.**',
	);
	const first = say(
		'## Before you run it\n1. *Charge by PIX*: choose your credential and your offer.\n2. *Wait for the payment*: choose your credential.\n',
		'## Antes de executar\n1. *Gerar Pix*: escolha sua credencial e sua oferta.\n2. *Aguardar o pagamento*: escolha sua credencial.\n',
	);
	const last = say(
		'\n4. Press **Execute workflow** and fill in the form with your own data. Publish it when it works.',
		'\n4. Clique em **Execute workflow** e preencha o formulário com seus próprios dados. Publique quando funcionar.',
	);
	return {
		name,
		notes: [`${what}\n\n${outcome}`, first + how + last],
		chains: [[orderForm(say), charge, text, ...pix, waitFor(say, charge), ifPaid(say), confirm]],
	};
}

/** WhatsApp within 24 hours of the customer's last message: picture and code. */
export const chargeByWhatsApp: Recipe = (say) =>
	charging(
		say,
		say('Charge by WhatsApp, with the QR code', 'Cobrar por WhatsApp, com o QR Code'),
		[
			say(
				'## Charge by WhatsApp\nThe customer gets the QR code as a picture, then the code alone, easy to copy.\n\n**Within 24 hours of the last message of the customer only**: later, WhatsApp refuses it (error 131047). Use the recipe with a template then.',
				'## Cobrar por WhatsApp\nO cliente recebe o QR Code como imagem e depois só o código, fácil de copiar.\n\n**Só até 24 horas depois da última mensagem do cliente**: passado esse prazo o WhatsApp recusa (erro 131047). Nesse caso, use a receita com modelo.',
			),
			say(
				'3. The three WhatsApp nodes: choose your credential and the number that sends.',
				'3. Nos três nós do WhatsApp: escolha sua credencial e o número que envia.',
			),
		],
		(text) => {
			const told = words(say, text);
			return {
				pix: [
					whatsAppPicture(
						say,
						say('Send the QR code', 'Enviar o QR Code'),
						told.whatsapp,
						TEXTS.pix(say, told),
					),
					whatsAppText(say, say('Send the code', 'Enviar o código'), told.whatsapp, told.code),
				],
				confirm: whatsAppText(
					say,
					say('Confirm the payment', 'Confirmar o pagamento'),
					told.whatsapp,
					TEXTS.paid(say, told),
				),
			};
		},
	);

/** WhatsApp at any time: messages that Meta has approved as templates. */
export const chargeByWhatsAppTemplate: Recipe = (say) =>
	charging(
		say,
		say('Charge by WhatsApp, by template', 'Cobrar por WhatsApp, com modelo aprovado'),
		[
			say(
				'## Charge by WhatsApp, at any time\nOutside 24 hours WhatsApp takes only templates that Meta has approved. Create two in English, category Utility; a text must not begin or end with a variable:\n- `pix_ready`: Hi, {{1}}! Your PIX of {{2}} for {{3}} is ready. Copy this code: {{4}} and paste it in your banking app under Pix Copia e Cola.\n- `payment_confirmed`: Hi, {{1}}! We have received {{2}} for {{3}}. Your access follows.',
				'## Cobrar por WhatsApp, a qualquer hora\nFora das 24 horas o WhatsApp só aceita modelos aprovados pela Meta. Crie dois em português, categoria Utilidade; o texto não pode começar nem terminar com variável:\n- `pix_pronto`: Oi, {{1}}! Seu Pix de {{2}} para {{3}} está pronto. Copie este código: {{4}} e cole no app do banco, em Pix Copia e Cola.\n- `pagamento_confirmado`: Oi, {{1}}! Recebemos {{2}} por {{3}}. Seu acesso chega em seguida.',
			),
			say(
				'3. Both WhatsApp nodes: choose your credential, the number that sends, and your template.',
				'3. Nos dois nós do WhatsApp: escolha sua credencial, o número que envia e o seu modelo.',
			),
		],
		(text) => {
			const { name, amount, product, code, whatsapp } = words(say, text);
			const template = (nodeName: string, of: string, variables: string[]): Node =>
				whatsApp(nodeName, {
					operation: 'sendTemplate',
					phoneNumberId: sendingNumber(say),
					recipientPhoneNumber: `=${whatsapp}`,
					template: of,
					components: {
						component: [
							{
								type: 'body',
								bodyParameters: {
									parameter: variables.map((variable) => ({ type: 'text', text: `=${variable}` })),
								},
							},
						],
					},
				});
			return {
				pix: [
					template(
						say('Send the code', 'Enviar o código'),
						say('pix_ready|en_US', 'pix_pronto|pt_BR'),
						[name, amount, product, code],
					),
				],
				confirm: template(
					say('Confirm the payment', 'Confirmar o pagamento'),
					say('payment_confirmed|en_US', 'pagamento_confirmado|pt_BR'),
					[name, amount, product],
				),
			};
		},
	);

/** WhatsApp by a server of Evolution API. */
export const chargeByEvolutionApi: Recipe = (say) =>
	charging(
		say,
		say('Charge by WhatsApp, by Evolution API', 'Cobrar por WhatsApp, com Evolution API'),
		[
			say(
				'## Charge by WhatsApp with Evolution API\nThe customer gets the QR code as a picture, then the code alone, easy to copy, from your own server of Evolution API (version 2).',
				'## Cobrar por WhatsApp com Evolution API\nO cliente recebe o QR Code como imagem e depois só o código, fácil de copiar, pelo seu servidor da Evolution API (versão 2).',
			),
			say(
				'3. The three HTTP Request nodes: replace the address and the name of the instance by yours, and choose a *Header Auth* credential with the name `apikey` and your key.',
				'3. Nos três nós HTTP Request: troque o endereço e o nome da instância pelos seus e escolha uma credencial *Header Auth* com o nome `apikey` e a sua chave.',
			),
		],
		(text) => {
			const told = words(say, text);
			const instance = say('my-instance', 'minha-instancia');
			const post = (name: string, path: string, parameters: INodeParameters): Node =>
				httpRequest(name, {
					method: 'POST',
					url: `https://evolution.example.com/message/${path}/${instance}`,
					authentication: 'genericCredentialType',
					genericAuthType: 'httpHeaderAuth',
					sendBody: true,
					...parameters,
					options: {},
				});
			const sendText = (name: string, content: string): Node =>
				post(name, 'sendText', {
					bodyParameters: {
						parameters: [
							{ name: 'number', value: `=${told.whatsapp}` },
							{ name: 'text', value: `=${content}` },
						],
					},
				});
			const picture = {
				parameterType: 'formBinaryData',
				name: 'file',
				inputDataFieldName: 'qrCode',
			};
			return {
				pix: [
					post(say('Send the QR code', 'Enviar o QR Code'), 'sendMedia', {
						contentType: 'multipart-form-data',
						bodyParameters: {
							parameters: [
								picture,
								...Object.entries({
									number: `=${told.whatsapp}`,
									mediatype: 'image',
									caption: `=${TEXTS.pix(say, told)}`,
								}).map(([name, value]) => ({ parameterType: 'formData', name, value })),
							],
						},
					}),
					sendText(say('Send the code', 'Enviar o código'), told.code),
				],
				confirm: sendText(
					say('Confirm the payment', 'Confirmar o pagamento'),
					TEXTS.paid(say, told),
				),
			};
		},
	);
