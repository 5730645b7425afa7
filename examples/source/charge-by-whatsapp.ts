import type { INodeParameters } from 'n8n-workflow';
import {
	activate,
	charging,
	codeLine,
	openWindowStep,
	VARIABLES,
	variablesOf,
	windowNote,
} from './charging';
import { CONTINUES, httpRequest, RETRIED } from './nodes';
import { TEXTS, whatsAppPicture, whatsAppTemplate, whatsAppText, words } from './parts';
import { off, type Node, type Recipe, type Say } from './workflow';

/** The names of the messages, whatever sends them. */
const sendPicture = (say: Say): string => say('Send the QR code', 'Enviar o QR Code');
const sendCode = (say: Say): string => say('Send the code', 'Enviar o código');
const confirmPayment = (say: Say): string => say('Confirm the payment', 'Confirmar o pagamento');
const next = (say: Say): string =>
	say(
		'We have sent it by WhatsApp, too, and confirm there once the payment has arrived. You can close this page.',
		'Também enviamos por WhatsApp e confirmamos lá assim que o pagamento cair. Pode fechar esta página.',
	);

/**
 * Sends picture and code within 24 hours of the customer's last message. Each message has a deactivated twin that uses
 * a template approved by Meta, which WhatsApp delivers at any time.
 */
export const chargeByWhatsApp: Recipe = (say) => {
	const { name, amount, product, code } = VARIABLES;
	const pixReady = say(
		`Hi, ${name}! Your PIX of ${amount} (${product}) is ready. The code is on the line below:`,
		`Oi, ${name}! Seu Pix de ${amount} (${product}) está pronto. O código está na linha abaixo:`,
	);
	const templates = {
		[say('pix_ready', 'pix_pronto')]: pixReady + codeLine(say, code),
		[say('payment_confirmed', 'pagamento_confirmado')]: TEXTS.paid(say, VARIABLES),
	};
	const [ready = '', confirmed = ''] = Object.keys(templates).map(
		(template) => `${template}|${say('en_US', 'pt_BR')}`,
	);
	const byTemplate = (node: string): string => `${node} (${say('template', 'modelo')})`;
	return charging(say, {
		name: say('Charge by WhatsApp', 'Cobrar por WhatsApp'),
		what: `${say(
			'## Charge by WhatsApp\nSends the QR code, then the code alone, and confirms the payment.',
			'## Cobrar por WhatsApp\nEnvia o QR Code, depois só o código, e confirma o pagamento.',
		)}\n\n${windowNote(say)}`,
		steps: [
			`${say(
				'The three WhatsApp nodes without *(template)*: your credential and number.',
				'Os três nós do WhatsApp sem *(modelo)*: sua credencial e seu número.',
			)} ${activate(say)}`,
			openWindowStep(say),
		],
		notes: [
			[
				say(
					'## At any time, by template\nCreate these in the WhatsApp Manager (Utility, English (US), exactly so). Once approved, activate the nodes *(template)* instead of the others, each with its template.',
					'## A qualquer hora, com modelo\nCrie estes no Gerenciador do WhatsApp (Utilidade, Português (BR), exatamente assim). Depois de aprovados, ative os nós *(modelo)* no lugar dos outros, cada um com o seu modelo.',
				),
				...Object.entries(templates).map(([template, text]) => `\`${template}\`\n\n${text}`),
			].join('\n\n'),
		],
		recipe: 'whatsapp',
		next: next(say),
		send(message) {
			const told = words(say, message);
			const variables = variablesOf(say, message);
			const template = (
				node: string,
				...sent: [to: string, which: string, values?: string[], more?: Node['more']]
			): Node => off(whatsAppTemplate(byTemplate(node), ...sent));
			// A customer without the code cannot pay, so the execution fails and the team sees it.
			return {
				pix: [
					whatsAppPicture(sendPicture(say), told.whatsapp, TEXTS.pix(say, told)),
					whatsAppText(sendCode(say), told.whatsapp, told.code, RETRIED),
					template(sendCode(say), told.whatsapp, ready, variables, RETRIED),
				],
				confirm: [
					whatsAppText(confirmPayment(say), told.whatsapp, TEXTS.paid(say, told)),
					template(confirmPayment(say), told.whatsapp, confirmed, variables.slice(0, 3)),
				],
			};
		},
	});
};

/** WhatsApp by a server of Evolution API. */
export const chargeByEvolutionApi: Recipe = (say) =>
	charging(say, {
		name: say('Charge by WhatsApp, by Evolution API', 'Cobrar por WhatsApp, com Evolution API'),
		what: say(
			'## Charge by WhatsApp with Evolution API 2\nSends the QR code, then the code alone, and confirms the payment.',
			'## Cobrar por WhatsApp com Evolution API 2\nEnvia o QR Code, depois só o código, e confirma o pagamento.',
		),
		steps: [
			`${say(
				'The three HTTP Request nodes: your address and instance, and a *Header Auth* credential with the name `apikey`.',
				'Os três nós HTTP Request: seu endereço, sua instância e uma credencial *Header Auth* com o nome `apikey`.',
			)} ${activate(say)}`,
		],
		recipe: 'evolution',
		next: next(say),
		send(message) {
			const told = words(say, message);
			const instance = say('my-instance', 'minha-instancia');
			const post = (
				name: string,
				path: string,
				body: INodeParameters,
				more: Node['more'] = CONTINUES,
			): Node => {
				const parameters = {
					method: 'POST',
					url: `https://evolution.example.com/message/${path}/${instance}`,
					authentication: 'genericCredentialType',
					genericAuthType: 'httpHeaderAuth',
					sendBody: true,
					...body,
					options: {},
				};
				return httpRequest(name, parameters, more);
			};
			const sendText = (
				name: string,
				number: string,
				content: string,
				more?: Node['more'],
			): Node => {
				const parameters = [
					{ name: 'number', value: `=${number}` },
					{ name: 'text', value: `=${content}` },
				];
				return post(name, 'sendText', { bodyParameters: { parameters } }, more);
			};
			const picture = {
				parameterType: 'formBinaryData',
				name: 'file',
				inputDataFieldName: 'qrCode',
			};
			return {
				pix: [
					post(sendPicture(say), 'sendMedia', {
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
					sendText(sendCode(say), told.whatsapp, told.code, RETRIED),
				],
				confirm: [sendText(confirmPayment(say), told.whatsapp, TEXTS.paid(say, told))],
			};
		},
	});
