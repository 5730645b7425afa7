import type { INodeParameters } from 'n8n-workflow';
import { dataTable, firstOfEach, getTransaction, only, schedule } from './nodes';
import {
	chargeOrder,
	html,
	notCharged,
	orderForm,
	reais,
	saleTrigger,
	statusName,
	tellTeam,
} from './parts';
import { from, output, type Recipe } from './workflow';

const TABLE = 'pix_charges';
const COLUMNS = {
	hash: 'string',
	payment_status: 'string',
	amount_reais: 'number',
	customer_name: 'string',
};
type Column = keyof typeof COLUMNS;

/** Statuses after which nothing changes that the schedule would have to find. */
const OVER = [
	'paid',
	'refused',
	'canceled',
	'cancelled',
	'expired',
	'refunded',
	'chargeback',
	'chargedback',
];
const DAYS = 3;
const MINUTES = 15;
const RUNS_A_MONTH = (30 * 24 * 60) / MINUTES;

const inTable = (operation: string): INodeParameters => ({
	resource: 'row',
	operation,
	dataTableId: { __rl: true, mode: 'name', value: TABLE },
});

const mapped = (value: Partial<Record<Column, string>>): INodeParameters => ({
	columns: {
		mappingMode: 'defineBelow',
		value,
		matchingColumns: [],
		schema: Object.entries(COLUMNS)
			.filter(([id]) => id in value)
			.map(([id, type]) => ({
				id,
				displayName: id,
				required: false,
				defaultMatch: false,
				display: true,
				type,
				canBeUsedToMatch: true,
			})),
		attemptToConvertTypes: false,
		convertFieldsToString: false,
	},
	options: {},
});

const conditions = (...rows: Array<[keyName: string, condition: string, keyValue: string]>) => ({
	matchType: 'allConditions',
	filters: {
		conditions: rows.map(([keyName, condition, keyValue]) => ({ keyName, condition, keyValue })),
	},
});

/** Charges, and tells each change once: at once by its webhook, or by the schedule if that is lost. */
export const reconciliation: Recipe = (say) => {
	const order = orderForm(say);
	const table = dataTable(say('Have the table', 'Garantir a tabela'), {
		resource: 'table',
		operation: 'create',
		tableName: TABLE,
		columns: { column: Object.entries(COLUMNS).map(([name, type]) => ({ name, type })) },
		options: { createIfNotExists: true },
	});
	const charge = chargeOrder(say, from(order));
	const remember = dataTable(say('Remember the charge', 'Guardar a cobrança'), {
		...inTable('insert'),
		...mapped(
			Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, `={{ $json.${name} }}`])),
		),
	});
	const told = saleTrigger(say, ['any']);
	const start = schedule(say(`Every ${MINUTES} minutes`, `A cada ${MINUTES} minutos`), MINUTES);
	const open = dataTable(say('Still open', 'Ainda em aberto'), {
		...inTable('get'),
		...conditions(
			...OVER.map((status): [string, string, string] => ['payment_status', 'neq', status]),
			['createdAt', 'gt', `={{ $now.minus({ days: ${DAYS} }).toISO() }}`],
		),
		returnAll: true,
	});
	// A form sent again is not charged again: two rows then hold one charge.
	const once = firstOfEach(say('Each charge once', 'Cada cobrança uma vez'), 'hash');
	const ask = getTransaction(
		say('Ask the platform', 'Consultar a plataforma'),
		{ transactionHash: '={{ $json.hash }}' },
		{ onError: 'continueRegularOutput' },
	);
	// What could not be read is asked for again by the next run.
	const read = only(say('Was it read?', 'Foi lida?'), '!!$json.payment_status');
	const now = from(read);
	const row = dataTable(say('Find its row', 'Buscar a linha'), {
		...inTable('get'),
		...conditions(['hash', 'eq', `={{ ${now}.hash }}`]),
		limit: 1,
	});
	const changed = only(
		say('Only what changed', 'Só o que mudou'),
		`$json.payment_status !== ${now}.payment_status`,
	);
	const tell = tellTeam(
		say,
		say('Tell the team', 'Avisar a equipe'),
		`ℹ️ <b>${html(statusName(say, `${now}.payment_status`))}</b>: ${html(`${now}.customer_name`)}, {{ ${reais(say, `${now}.amount_reais`)} }}\n{{ ${now}.hash }}`,
	);
	// Only now: what could not be told is found again by the schedule.
	const note = dataTable(say('Note the new status', 'Anotar o novo status'), {
		...inTable('update'),
		...conditions(['hash', 'eq', `={{ ${now}.hash }}`]),
		...mapped({ payment_status: `={{ ${now}.payment_status }}` }),
	});
	return {
		name: say('Reconciliation: find lost webhooks', 'Conferência: achar webhooks perdidos'),
		notes: [
			say(
				`## Finds charges whose webhook was lost\nEach charge is kept in the data table \`pix_charges\`. The platform tells the trigger of its changes; what no webhook told of, the schedule finds: every ${MINUTES} minutes it reads each charge that is still open, for ${DAYS} days. Either way, the team is told once.\n\nThat is about ${RUNS_A_MONTH.toLocaleString('en-US')} executions a month, and one read per open charge each time.`,
				`## Acha as cobranças cujo webhook se perdeu\nCada cobrança fica na tabela de dados \`pix_charges\`. A plataforma avisa o gatilho das mudanças; o que nenhum webhook avisou, o agendamento acha: a cada ${MINUTES} minutos ele consulta cada cobrança ainda em aberto, por ${DAYS} dias. De um jeito ou de outro, a equipe é avisada uma vez.\n\nSão cerca de ${RUNS_A_MONTH.toLocaleString('pt-BR')} execuções por mês, e uma consulta por cobrança em aberto em cada uma.`,
			),
			say(
				`## Before you publish it
1. *Charge by PIX*: choose your credential and your offer. *When a sale changes* and *Ask the platform*: choose your credential.
2. *Tell the team*: choose your Telegram credential and enter the id of your group.
3. Beside **Execute workflow**, choose *Order form*; fill in the form with your own data. This also creates the table.
4. Add a sender after *Remember the charge* (see the recipes *Charge by …*): **this workflow does not send the PIX.** Then publish it.

In your own workflows, put *Remember the charge* after every *Create PIX*: **only what is in the table is followed.** The Notification URL of your credential must then be the production URL of *When a sale changes*.`,
				`## Antes de publicar
1. *Gerar Pix*: escolha sua credencial e sua oferta. *Quando uma venda muda* e *Consultar a plataforma*: escolha sua credencial.
2. *Avisar a equipe*: escolha sua credencial do Telegram e coloque o id do seu grupo.
3. Ao lado de **Execute workflow**, escolha *Formulário do pedido*; preencha o formulário com seus próprios dados. Isso também cria a tabela.
4. Coloque o envio depois de *Guardar a cobrança* (veja as receitas *Cobrar por …*): **este fluxo não envia o Pix.** Depois publique.

Nos seus outros fluxos, coloque *Guardar a cobrança* depois de cada *Create PIX*: **só é acompanhado o que está na tabela.** A Notification URL da sua credencial deve então ser a production URL de *Quando uma venda muda*.`,
			),
			say(
				'## Do more than tell the team\nPut what you do with a sale in place of *Tell the team*, or after it, but before *Note the new status*: what fails is then done again. **Deliver only if `payment_status` is `paid`.**',
				'## Fazer mais do que avisar\nColoque o que você faz com a venda no lugar de *Avisar a equipe*, ou depois dele, mas antes de *Anotar o novo status*: o que falhar é feito de novo. **Entregue só se `payment_status` for `paid`.**',
			),
		],
		chains: [
			[order, table, charge, remember],
			[output(charge, 1), notCharged(say, charge)],
			[start, open, once, ask, read, row, changed, tell, note],
			[told, read],
		],
	};
};
