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
				'## Charge a list\nCharges each row without a transaction and writes the code back; nothing is sent to customers. **Safe to run again**: each `order` is charged once, so use new ones each month. An error appears in `status`; do not change the `order` to try again. A copy of this workflow does not know these charges.',
				'## Cobrar uma lista\nCobra cada linha sem cobrança e escreve o código nela; nada vai ao cliente. **Pode executar de novo**: cada `pedido` é cobrado uma vez, então use outros a cada mês. Um erro aparece em `status`; não mude o `pedido` para tentar de novo. Uma cópia deste fluxo não conhece estas cobranças.',
			),
			say(
				`## Set it up\n1. A sheet *${tab}* with the first row ${header}. Format \`order\`, \`document\` and \`phone\` as **text**; \`price\` is in reais.\n2. The Google Sheets nodes: your credential and link.\n3. *Charge by PIX*: your credential and offer.`,
				`## Como configurar\n1. Uma aba *${tab}* com a primeira linha ${header}. Formate \`pedido\`, \`documento\` e \`telefone\` como **texto**; \`preco\` é em reais.\n2. Os nós do Google Sheets: sua credencial e o link.\n3. *Gerar Pix*: sua credencial e sua oferta.`,
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
