import {
	createOffer,
	getProducts,
	manualTrigger,
	only,
	readRows,
	stopAndError,
	when,
	writeRow,
} from './nodes';
import { columns, productToChoose, reason, sheet } from './parts';
import { from, output, type Recipe } from './workflow';

/** Every offer of the account as a row. */
export const catalogToSheet: Recipe = (say) => {
	const start = manualTrigger(
		say('When you press Execute workflow', 'Ao clicar em Execute workflow'),
	);
	const list = getProducts(say('Get the whole catalog', 'Buscar o catálogo inteiro'), {
		returnAll: true,
		options: { splitOffers: true },
	});
	const tab = say('Catalog', 'Catálogo');
	const key = say('code', 'codigo');
	const row = {
		[key]: '={{ $json.offer_hash ?? $json.product_hash }}',
		[say('product', 'produto')]: '={{ $json.title }}',
		[say('offer', 'oferta')]: '={{ $json.offer_title ?? $json.title }}',
		[say('price', 'preco')]: `={{ $json.price_reais ?? '${say('no offer', 'sem oferta')}' }}`,
		status: '={{ $json.status }}',
		checkout: `={{ $json.checkout_url ?? $json.sale_page ?? '-' }}`,
		[say('product_code', 'codigo_do_produto')]: '={{ $json.product_hash }}',
	};
	const write = writeRow(
		say('Write the rows', 'Escrever as linhas'),
		sheet(say, tab),
		'appendOrUpdate',
		key,
		row,
	);
	return {
		name: say('Catalog to Google Sheets', 'Catálogo no Google Sheets'),
		notes: [
			say(
				'## The catalog as a spreadsheet\nOne row for each offer of each product, the price in reais. Run it again whenever you like: it updates the rows that are there.',
				'## O catálogo em uma planilha\nUma linha para cada oferta de cada produto, com o preço em reais. Execute quando quiser: as linhas existentes são atualizadas.',
			),
			say(
				`## Before you run it\n1. *Get the whole catalog*: choose your credential.\n2. *Write the rows*: choose your Google credential and paste the link of your spreadsheet. It needs a sheet *${tab}* whose first row holds: ${columns(row)}`,
				`## Antes de executar\n1. *Buscar o catálogo inteiro*: escolha sua credencial.\n2. *Escrever as linhas*: escolha sua credencial do Google e cole o link da sua planilha. Ela precisa de uma aba *${tab}* com esta primeira linha: ${columns(row)}`,
			),
		],
		chains: [[start, list, write]],
	};
};

/** An offer for each row that has none yet. */
export const offersFromSheet: Recipe = (say) => {
	const title = say('title', 'titulo');
	const price = say('price', 'preco');
	const hash = say('offer', 'oferta');
	const tab = say('Offers', 'Ofertas');
	const rowsOf = sheet(say, tab);
	const missing = `['${title}', '${price}'].filter((column) => String($json[column] ?? '').trim() === '')`;
	const start = manualTrigger(
		say('When you press Execute workflow', 'Ao clicar em Execute workflow'),
	);
	const rows = readRows(say('Read the rows', 'Ler as linhas'), rowsOf);
	const isThere = when(say('Is there a row?', 'Tem linha?'), '!!$json.row_number');
	const stop = stopAndError(say('No row', 'Nenhuma linha'), {
		errorMessage: say(
			`The sheet "${tab}" has no row. Enter one offer per row under the first line, and run it again.`,
			`A aba "${tab}" não tem linha. Preencha uma oferta por linha abaixo da primeira linha e execute de novo.`,
		),
	});
	const open = only(
		say('No offer yet', 'Ainda sem oferta'),
		`String($json['${hash}'] ?? '').trim() === ''`,
	);
	const complete = when(say('Is the row complete?', 'Linha completa?'), `${missing}.length === 0`);
	const row = (name: string, value: Record<string, string>) =>
		writeRow(name, rowsOf, 'update', 'row_number', {
			row_number: `={{ ${from(rows)}.row_number }}`,
			...value,
		});
	const ask = row(say('Write what is missing', 'Escrever o que falta'), {
		status: say(
			`=Fill in {{ ${missing}.join(', ') }} and run it again`,
			`=Preencha {{ ${missing}.join(', ') }} e execute de novo`,
		),
	});
	const create = createOffer(
		say('Create the offer', 'Criar a oferta'),
		{
			productHash: productToChoose(say),
			title: `={{ $json['${title}'] }}`,
			price: `={{ $json['${price}'] }}`,
			paymentMethods: [3],
		},
		{ onError: 'continueErrorOutput' },
	);
	const keep = row(say('Write the offer', 'Escrever a oferta'), {
		[hash]: '={{ $json.hash }}',
		checkout: '={{ $json.url }}',
		status: say('created', 'criada'),
	});
	const explain = row(say('Write the error', 'Escrever o erro'), {
		status: `={{ ${reason('$json.error')} }}`,
	});
	return {
		name: say('Offers from Google Sheets', 'Ofertas a partir do Google Sheets'),
		notes: [
			say(
				'## An offer from each row\nCreates an offer for each row that has none yet, the price in reais, and writes its code and its checkout address back. **You cannot delete an offer from n8n: check the rows first.**\n\nA row with an error shows in `status` what happened and what to do. If writing failed, press **Retry** on that execution under Executions; do not run it again, since it would create the offers again.',
				'## Uma oferta de cada linha\nCria uma oferta para cada linha que ainda não tem, com o preço em reais, e escreve de volta o código e o link de checkout. **Pelo n8n não dá para apagar uma oferta: confira as linhas antes.**\n\nLinha com erro mostra em `status` o que aconteceu e o que fazer (em inglês). Se a escrita falhou, clique em **Retry** nessa execução, em Executions; não execute de novo, senão as ofertas são criadas outra vez.',
			),
			say(
				`## Before you run it\n1. A spreadsheet with a sheet *${tab}* whose first row holds: \`${title}\`, \`${price}\`, \`${hash}\`, \`checkout\`, \`status\`.\n2. The four Google Sheets nodes: choose your credential and paste the link.\n3. *Create the offer*: choose your credential and your product.`,
				`## Antes de executar\n1. Uma planilha com uma aba *${tab}* e esta primeira linha: \`${title}\`, \`${price}\`, \`${hash}\`, \`checkout\`, \`status\`.\n2. Nos quatro nós do Google Sheets: escolha sua credencial e cole o link.\n3. *Criar a oferta*: escolha sua credencial e seu produto.`,
			),
		],
		chains: [
			[start, rows, isThere, open, complete, create, keep],
			[output(create, 1), explain],
			[output(complete, 1), ask],
			[output(isThere, 1), stop],
		],
	};
};
