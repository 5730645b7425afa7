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
				'## Each paid sale, where you need it\nEach paid sale starts the workflow once, after the platform has confirmed it: a row in Google Sheets with its UTM values, a contact in HubSpot, a request to any other CRM, and a message to the team by Telegram. **Delete the branches that you do not use.**\n\n**To follow every status**, choose *Any Status* in *When a sale changes*: the row of a sale then always shows its current status; HubSpot still gets paid sales only. A status that a sale has had before does not come again: if you win a dispute, correct the row by hand.',
				'## Cada venda aprovada, onde você precisa\nCada venda aprovada inicia o fluxo uma vez, depois de confirmada na plataforma: uma linha no Google Sheets com os UTMs, um contato no HubSpot, uma chamada a qualquer outro CRM e uma mensagem para a equipe pelo Telegram. **Apague os ramos que você não usa.**\n\n**Para acompanhar todos os status**, escolha *Any Status* em *Quando uma venda muda*: a linha da venda mostra sempre o status atual; o HubSpot continua recebendo só vendas aprovadas. Um status que a venda já teve não chega de novo: se você ganhar um chargeback, corrija a linha à mão.',
			),
			[
				say('## Before you publish it', '## Antes de publicar'),
				say(
					`1. *When a sale changes*: choose your credential.
2. *Write the row*: choose your Google credential and paste the link of your spreadsheet. It needs a sheet *${tab}* whose first row holds: ${columns(saleRow(say))}
3. *Save the contact*: choose your HubSpot credential.
4. *Send the sale to the CRM*: enter the address from the documentation of your CRM, choose a *Header Auth* credential (often the name \`Authorization\` and the value \`Bearer YOUR-KEY\`), and rename the fields as your CRM calls them.
5. *Tell the team*: choose your Telegram credential, add your bot to the group, and enter the id of the group (a number that begins with -).`,
					`1. *Quando uma venda muda*: escolha sua credencial.
2. *Escrever a linha*: escolha sua credencial do Google e cole o link da sua planilha. Ela precisa de uma aba *${tab}* com esta primeira linha: ${columns(saleRow(say))}
3. *Salvar o contato*: escolha sua credencial do HubSpot.
4. *Enviar a venda ao CRM*: coloque o endereço que está na documentação do seu CRM, escolha uma credencial *Header Auth* (em geral o nome \`Authorization\` e o valor \`Bearer SUA-CHAVE\`) e use os nomes de campo do seu CRM.
5. *Avisar a equipe*: escolha sua credencial do Telegram, adicione seu bot ao grupo e coloque o id do grupo (um número que começa com -).`,
				),
				`6. ${publishNote(say)}`,
			].join('\n'),
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
