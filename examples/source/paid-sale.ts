import { httpRequest, hubSpot, only, RETRIED, writeRow } from './nodes';
import {
	columns,
	html,
	publishNote,
	reais,
	ROW_FIELDS,
	saleRow,
	saleTrigger,
	sheet,
	tellTeam,
} from './parts';
import type { Recipe, Say } from './workflow';

const before = (say: Say, ...steps: string[]): string =>
	[
		say('## Before you publish it', '## Antes de publicar'),
		...[
			say(
				'*When a sale changes*: choose your credential.',
				'*Quando uma venda muda*: escolha sua credencial.',
			),
			...steps,
			publishNote(say),
		].map((step, index) => `${index + 1}. ${step}`),
	].join('\n');

const sheetStep = (say: Say, node: string, tab: string): string =>
	say(
		`*${node}*: choose your Google credential and paste the link of your spreadsheet. It needs a sheet *${tab}* whose first row holds: ${columns(saleRow(say))}`,
		`*${node}*: escolha sua credencial do Google e cole o link da sua planilha. Ela precisa de uma aba *${tab}* com esta primeira linha: ${columns(saleRow(say))}`,
	);

/** Each paid sale becomes a row and a contact. */
export const paidSaleToSheetAndHubSpot: Recipe = (say) => {
	const start = saleTrigger(say, ['paid'], ROW_FIELDS);
	const tab = say('Sales', 'Vendas');
	const row = writeRow(
		say('Write the row', 'Escrever a linha'),
		sheet(say, tab),
		'appendOrUpdate',
		say('sale', 'venda'),
		saleRow(say),
	);
	// HubSpot finds a contact by it, and without it would stop the row as well.
	const reachable = only(say('Has an e-mail', 'Tem e-mail'), '!!$json.customer_email');
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
	return {
		name: say(
			'Paid sale to Google Sheets and HubSpot',
			'Venda aprovada no Google Sheets e no HubSpot',
		),
		notes: [
			say(
				'## Paid sale to Google Sheets and HubSpot\nEach paid sale starts the workflow once, after the platform has confirmed it. It becomes one row, with its UTM values, and a contact in HubSpot, who is updated if you know the e-mail already.',
				'## Venda aprovada no Google Sheets e no HubSpot\nCada venda aprovada inicia o fluxo uma vez, depois de confirmada na plataforma. Vira uma linha, com os UTMs, e um contato no HubSpot, atualizado se o e-mail já existir.',
			),
			before(
				say,
				sheetStep(say, row.name, tab),
				say(
					'*Save the contact*: choose your HubSpot credential.',
					'*Salvar o contato*: escolha sua credencial do HubSpot.',
				),
			),
		],
		// The contact comes first: n8n stops at a sheet that fails, and a Retry goes on from there.
		chains: [
			[start, reachable, contact],
			[start, row],
		],
	};
};

/** Each paid sale goes to a CRM that takes JSON. */
export const paidSaleToAnyCrm: Recipe = (say) => {
	const start = saleTrigger(say, ['paid'], ROW_FIELDS);
	const post = httpRequest(
		say('Send the sale to the CRM', 'Enviar a venda ao CRM'),
		{
			method: 'POST',
			url: 'https://crm.example.com/api/sales',
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			sendHeaders: true,
			headerParameters: {
				parameters: [{ name: 'Idempotency-Key', value: '={{ $json.hash }}' }],
			},
			sendBody: true,
			bodyParameters: {
				parameters: Object.entries(saleRow(say)).map(([name, value]) => ({ name, value })),
			},
			options: {},
		},
		RETRIED,
	);
	return {
		name: say('Paid sale to any CRM', 'Venda aprovada em qualquer CRM'),
		notes: [
			say(
				'## Paid sale to any CRM\nEach paid sale starts the workflow once, after the platform has confirmed it, and goes as JSON to the address that your CRM names for it. If the CRM does not answer, the sale is sent again, with the same `Idempotency-Key`.',
				'## Venda aprovada em qualquer CRM\nCada venda aprovada inicia o fluxo uma vez, depois de confirmada na plataforma, e segue como JSON para o endereço que o seu CRM indica. Se o CRM não responder, a venda é enviada de novo, com a mesma `Idempotency-Key`.',
			),
			before(
				say,
				say(
					'*Send the sale to the CRM*: enter the address from the documentation of your CRM, choose a *Header Auth* credential (often the name `Authorization` and the value `Bearer YOUR-KEY`), and rename the fields as your CRM calls them.',
					'*Enviar a venda ao CRM*: coloque o endereço que está na documentação do seu CRM, escolha uma credencial *Header Auth* (em geral o nome `Authorization` e o valor `Bearer SUA-CHAVE`) e use os nomes de campo do seu CRM.',
				),
			),
		],
		chains: [[start, post]],
	};
};

/** Each paid sale is told to the team. */
export const paidSaleToTelegram: Recipe = (say) => {
	const start = saleTrigger(say, ['paid']);
	const tell = tellTeam(
		say,
		say('Tell the team', 'Avisar a equipe'),
		say(
			`✅ <b>Sale paid</b>\n${html('$json.product_title')}: {{ ${reais(say, '$json.amount_reais')} }}\n${html('$json.customer_name')}\n${html('$json.customer_email')}, ${html('$json.customer_phone')}`,
			`✅ <b>Venda aprovada</b>\n${html('$json.product_title')}: {{ ${reais(say, '$json.amount_reais')} }}\n${html('$json.customer_name')}\n${html('$json.customer_email')}, ${html('$json.customer_phone')}`,
		),
	);
	return {
		name: say('Paid sale to the team, by Telegram', 'Venda aprovada para a equipe, por Telegram'),
		notes: [
			say(
				'## Every sale to the team\nEach paid sale starts the workflow once, after the platform has confirmed it, and becomes a message in the Telegram group of your team.',
				'## Cada venda para a equipe\nCada venda aprovada inicia o fluxo uma vez, depois de confirmada na plataforma, e vira uma mensagem no grupo da equipe no Telegram.',
			),
			before(
				say,
				say(
					'*Tell the team*: choose your Telegram credential, add your bot to the group, and enter the id of the group (a number that begins with -).',
					'*Avisar a equipe*: escolha sua credencial do Telegram, adicione seu bot ao grupo e coloque o id do grupo (um número que começa com -).',
				),
			),
		],
		chains: [[start, tell]],
	};
};

/** One row a transaction, which follows its status. */
export const everyStatusToSheet: Recipe = (say) => {
	const start = saleTrigger(say, ['any'], ROW_FIELDS);
	const tab = say('Transactions', 'Cobranças');
	const row = writeRow(
		say('Write the row', 'Escrever a linha'),
		sheet(say, tab),
		'appendOrUpdate',
		say('sale', 'venda'),
		saleRow(say),
	);
	return {
		name: say('Every status to Google Sheets', 'Todos os status no Google Sheets'),
		notes: [
			say(
				'## Every status of every transaction\nOne row for each transaction: waiting for payment, paid, refused, refunded, charged back. A new status replaces the old one in the same row. A status that a transaction has had before does not come again: if you win a dispute, correct its row by hand.',
				'## Todos os status de todas as cobranças\nUma linha para cada cobrança: aguardando pagamento, aprovada, recusada, reembolsada, com chargeback. O status novo substitui o antigo na mesma linha. Um status que a cobrança já teve não chega de novo: se você ganhar um chargeback, corrija a linha à mão.',
			),
			before(say, sheetStep(say, row.name, tab)),
		],
		chains: [[start, row]],
	};
};
