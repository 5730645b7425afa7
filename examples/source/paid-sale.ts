import { setUpNote } from './charging';
import { httpRequest, hubSpot, only, RETRIED, writeRow } from './nodes';
import {
	addressNote,
	columns,
	html,
	publishNote,
	reais,
	ROW_FIELDS,
	saleRow,
	saleTrigger,
	sheet,
	statusName,
	tellTeam,
} from './parts';
import type { Recipe } from './workflow';

/** Each paid sale becomes a row, a contact, a call of any CRM and a message to the team. */
export const paidSale: Recipe = (say) => {
	const start = saleTrigger(say, ['paid'], ROW_FIELDS);
	const tab = say('Sales', 'Vendas');
	const row = writeRow(
		say('Write the row', 'Escrever a linha'),
		sheet(tab),
		'appendOrUpdate',
		say('sale', 'venda'),
		saleRow(say),
	);
	// HubSpot finds a contact by its e-mail. Without an e-mail it would fail and stop the other branches.
	const customer = only(
		say('Is a customer', 'Já é cliente'),
		"$json.payment_status === 'paid' && !!$json.customer_email",
	);
	const names = "($json.customer_name ?? '').trim().split(/\\s+/)";
	const contact = hubSpot(
		say('Save the contact', 'Salvar o contato'),
		{
			authentication: 'appToken',
			resource: 'contact',
			operation: 'upsert',
			email: '={{ $json.customer_email }}',
			additionalFields: {
				firstName: `={{ ${names}[0] }}`,
				lastName: `={{ ${names}.slice(1).join(' ') }}`,
				phoneNumber: "={{ $json.customer_phone ?? '' }}",
				lifeCycleStage: 'customer',
			},
			options: {},
		},
		RETRIED,
	);
	const post = httpRequest(
		say('Send the sale to the CRM', 'Enviar a venda ao CRM'),
		{
			method: 'POST',
			url: 'https://crm.example.com/api/sales',
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			sendHeaders: true,
			headerParameters: {
				parameters: [
					{
						name: 'Idempotency-Key',
						value: '={{ $json.hash }}-{{ $json.payment_status }}',
					},
				],
			},
			sendBody: true,
			bodyParameters: {
				parameters: Object.entries(saleRow(say)).map(([name, value]) => ({ name, value })),
			},
			options: {},
		},
		RETRIED,
	);
	const tell = tellTeam(
		say('Tell the team', 'Avisar a equipe'),
		`💰 <b>${html(statusName(say, '$json.payment_status'))}</b>\n${html('$json.product_title')}: {{ ${reais(say, '$json.amount_reais')} }}\n${html('$json.customer_name')}\n${html('$json.customer_email')}, ${html('$json.customer_phone')}`,
	);
	return {
		name: say(
			'Paid sale to a spreadsheet, your CRM and the team',
			'Venda aprovada na planilha, no CRM e na equipe',
		),
		notes: [
			say(
				'## Each paid sale, where you need it\nA row in Google Sheets, a contact in HubSpot, a request to any CRM, a message by Telegram. **Delete the branches that you do not use.** With *Any Status* in *When a sale changes*, the row follows every status.',
				'## Cada venda aprovada, onde você precisa\nUma linha no Google Sheets, um contato no HubSpot, uma chamada a qualquer CRM, uma mensagem pelo Telegram. **Apague os ramos que você não usa.** Com *Any Status* em *Quando uma venda muda*, a linha acompanha todos os status.',
			),
			setUpNote(say, [
				say('*When a sale changes*: your credential.', '*Quando uma venda muda*: sua credencial.'),
				say(
					`*Write the row*: your Google credential and the link of a spreadsheet whose sheet *${tab}* has the first row ${columns(saleRow(say))}.`,
					`*Escrever a linha*: sua credencial do Google e o link de uma planilha cuja aba *${tab}* tem a primeira linha ${columns(saleRow(say))}.`,
				),
				say(
					'*Save the contact*: your HubSpot credential.',
					'*Salvar o contato*: sua credencial do HubSpot.',
				),
				say(
					'*Send the sale to the CRM*: its address, its names of the fields, a *Header Auth* credential (often `Authorization`: `Bearer YOUR-KEY`).',
					'*Enviar a venda ao CRM*: o endereço e os nomes de campo dele, uma credencial *Header Auth* (em geral `Authorization`: `Bearer SUA-CHAVE`).',
				),
				say(
					'*Tell the team*: your Telegram credential and the id of your group (it begins with -).',
					'*Avisar a equipe*: sua credencial do Telegram e o id do seu grupo (começa com -).',
				),
				publishNote(say),
			]),
			addressNote(say),
		],
		// The row comes last: n8n stops at what fails, and a Retry goes on from there.
		chains: [
			[start, customer, contact],
			[start, post],
			[start, tell],
			[start, row],
		],
	};
};
