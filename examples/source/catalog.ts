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
