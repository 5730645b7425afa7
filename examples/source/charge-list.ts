import { createPix, manualTrigger, only, readRows, stopAndError, when, writeRow } from './nodes';
import { reason, sheet } from './parts';
import { from, output, type Recipe } from './workflow';

/** Charges each row of a sheet once, and writes the result into the row. */
export const chargeListFromSheet: Recipe = (say) => {
	const column = {
		order: say('order', 'pedido'),
		name: say('name', 'nome'),
		email: 'email',
		phone: say('phone', 'telefone'),
		document: say('document', 'documento'),
		price: say('price', 'preco'),
		hash: say('transaction', 'cobranca'),
		status: 'status',
		code: say('pix_code', 'pix_copia_e_cola'),
	};
	const tab = say('Charges', 'Cobrar');
	const list = sheet(tab);
	const cell = (name: string): string => `$json[${JSON.stringify(name)}]`;
	const { order, name, email, phone, document, price } = column;
	const required = [order, name, email, phone, document, price];
	const missing = `[${required.map((name) => JSON.stringify(name)).join(', ')}].filter((column) => String($json[column] ?? '').trim() === '')`;

	const start = manualTrigger(
		say('When you press Execute workflow', 'Ao clicar em Execute workflow'),
	);
	const rows = readRows(say('Read the rows', 'Ler as linhas'), list);
	const isThere = when(say('Is there a row?', 'Tem linha?'), '!!$json.row_number');
	const stop = stopAndError(say('No row', 'Nenhuma linha'), {
		errorMessage: say(
			`The sheet "${tab}" has no row to charge. Enter one customer per row under the first line, and run it again.`,
			`A aba "${tab}" não tem linha para cobrar. Preencha um cliente por linha abaixo da primeira linha e execute de novo.`,
		),
	});
	const open = only(
		say('Not charged yet', 'Ainda não cobrada'),
		`String(${cell(column.hash)} ?? '').trim() === ''`,
	);
	const text = (order: string): string =>
		`String(${order}[${JSON.stringify(column.order)}] ?? '').trim()`;
	const isTwice = `$('${rows.name}').all().filter(({ json }) => ${text('json')} === ${text('$json')}).length > 1`;
	const complete = when(
		say('Is the row complete?', 'Linha completa?'),
		`${missing}.length === 0 && !(${isTwice})`,
	);
	const ask = writeRow(
		say('Write what is missing', 'Escrever o que falta'),
		list,
		'update',
		'row_number',
		{
			row_number: '={{ $json.row_number }}',
			[column.status]: say(
				`={{ ${missing}.length > 0 ? 'Fill in ' + ${missing}.join(', ') + ' and run it again' : 'Give this row an order of its own: another row has the same' }}`,
				`={{ ${missing}.length > 0 ? 'Preencha ' + ${missing}.join(', ') + ' e execute de novo' : 'Dê a esta linha um pedido só dela: outra linha tem o mesmo' }}`,
			),
		},
	);
	/** By its order, because a sheet that is sorted meanwhile has other row numbers. */
	const row = (name: string, value: Record<string, string>) =>
		writeRow(name, list, 'update', column.order, {
			[column.order]: `={{ ${from(rows)}[${JSON.stringify(column.order)}] }}`,
			...value,
		});
	const charge = createPix(
		say('Charge by PIX', 'Gerar Pix'),
		{
			cart: {
				items: [
					{
						offerHash: { __rl: true, mode: 'list', value: '' },
						quantity: 1,
						price: `={{ ${cell(column.price)} }}`,
					},
				],
			},
			customerName: `={{ ${cell(column.name)} }}`,
			customerEmail: `={{ ${cell(column.email)} }}`,
			customerPhone: `={{ ${cell(column.phone)} }}`,
			customerDocument: `={{ ${cell(column.document)} }}`,
			orderReference: `={{ ${cell(column.order)} }}`,
			options: { qrCodeImage: false },
		},
		{ onError: 'continueErrorOutput' },
	);
	const keep = row(say('Write the charge', 'Escrever a cobrança'), {
		[column.hash]: '={{ $json.hash }}',
		[column.status]: '={{ $json.payment_status }}',
		[column.code]: '={{ $json.pix_qr_code }}',
	});
	const explain = row(say('Write the error', 'Escrever o erro'), {
		[column.status]: `={{ ${reason('$json.error')} }}`,
	});
	const header = Object.values(column)
		.map((name) => `\`${name}\``)
		.join(', ');
	return {
		name: say('Charge a list from Google Sheets', 'Cobrar uma lista do Google Sheets'),
		notes: [
			say(
				'## Charge a list\nCharges each row that has no transaction yet, and writes the transaction, its status and the Pix Copia e Cola code back.\n\n**Safe to run again**: each `order` is charged once, even if writing the row failed.\n\nA row with an error shows in `status` what happened and what to do. **Do not change its `order` to try again**: that may charge twice.\n\n**Do not reuse an `order` next month**: the row would get the old, paid charge. A copy of this workflow does not know what this one charged.\n\n**`status` is the status at the time of the charge, and nothing is sent to the customer.** To hear of payments, publish a trigger and put its production URL into the **Notification URL** of your credential **before** you run this.',
				'## Cobrar uma lista\nCobra cada linha que ainda não tem cobrança e escreve de volta o código da cobrança, o status e o Pix copia e cola.\n\n**Pode executar de novo sem medo**: cada `pedido` é cobrado uma vez, mesmo que a escrita da linha falhe.\n\nUma linha com erro mostra em `status` o que aconteceu e o que fazer (em inglês). **Não mude o `pedido` para tentar de novo**: isso pode cobrar duas vezes.\n\n**Não repita um `pedido` no mês seguinte**: a linha receberia a cobrança antiga, já paga. Uma cópia do fluxo não sabe o que este já cobrou.\n\n**`status` é o do momento da cobrança, e nada é enviado ao cliente.** Para saber quem pagou, publique um gatilho e coloque a production URL dele na **Notification URL** da credencial **antes** de executar.',
			),
			say(
				`## Before you run it\n1. A spreadsheet with a sheet *${tab}* whose first row holds: ${header}. Format \`order\`, \`document\` and \`phone\` as **text** (otherwise leading zeros are lost). \`price\` is in reais.\n2. The four Google Sheets nodes: choose your credential and paste the link.\n3. *Charge by PIX*: choose your credential and your offer.`,
				`## Antes de executar\n1. Uma planilha com uma aba *${tab}* e esta primeira linha: ${header}. Formate \`pedido\`, \`documento\` e \`telefone\` como **texto** (senão os zeros à esquerda somem). \`preco\` é em reais.\n2. Nos quatro nós do Google Sheets: escolha sua credencial e cole o link.\n3. *Gerar Pix*: escolha sua credencial e sua oferta.`,
			),
		],
		chains: [
			[start, rows, isThere, open, complete, charge, keep],
			[output(charge, 1), explain],
			[output(complete, 1), ask],
			[output(isThere, 1), stop],
		],
	};
};
