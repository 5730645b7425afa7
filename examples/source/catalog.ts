import { getProducts, manualTrigger, writeRow } from './nodes';
import { columns, sheet } from './parts';
import type { Recipe } from './workflow';

/** Every offer of the account as a row. */
export const catalogToSheet: Recipe = (say) => {
	const start = manualTrigger(
		say('When you press Execute workflow', 'Ao clicar em Execute workflow'),
	);
	const list = getProducts(say('Get the whole catalog', 'Buscar o catálogo inteiro'), {
		returnAll: true,
		splitOffers: true,
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
		sheet(tab),
		'appendOrUpdate',
		key,
		row,
	);
	return {
		name: say('Catalog to Google Sheets', 'Catálogo no Google Sheets'),
		notes: [
			say(
				'## The catalog as a spreadsheet\nOne row for each offer. Run it again to update the rows.',
				'## O catálogo em uma planilha\nUma linha para cada oferta. Execute de novo para atualizar as linhas.',
			),
			say(
				`## Set it up\n1. *Get the whole catalog*: your credential.\n2. *Write the rows*: your Google credential and the link of a spreadsheet whose sheet *${tab}* has the first row ${columns(row)}.`,
				`## Como configurar\n1. *Buscar o catálogo inteiro*: sua credencial.\n2. *Escrever as linhas*: sua credencial do Google e o link de uma planilha cuja aba *${tab}* tem a primeira linha ${columns(row)}.`,
			),
		],
		chains: [[start, list, write]],
	};
};
