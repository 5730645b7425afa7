import type { INodeParameters } from 'n8n-workflow';
import { dataTable, getTransaction, onlyChanged, schedule } from './nodes';
import {
	chargeOrder,
	html,
	notCharged,
	orderForm,
	publishNote,
	reais,
	saleTrigger,
	statusName,
	tellTeam,
} from './parts';
import { from, output, type Node, type Recipe, type Say } from './workflow';

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

const haveTable = (say: Say): Node =>
	dataTable(say('Have the table', 'Garantir a tabela'), {
		resource: 'table',
		operation: 'create',
		tableName: TABLE,
		columns: { column: Object.entries(COLUMNS).map(([name, type]) => ({ name, type })) },
		options: { createIfNotExists: true },
	});

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

/** Tells a change, then notes it: what could not be told is found again by the schedule. */
function tellAndNote(say: Say, transaction: Node): Node[] {
	const now = from(transaction);
	const tell = tellTeam(
		say,
		say('Tell the team', 'Avisar a equipe'),
		`ℹ️ <b>${html(statusName(say, `${now}.payment_status`))}</b>: ${html(`${now}.customer_name`)}, {{ ${reais(say, `${now}.amount_reais`)} }}\n{{ ${now}.hash }}`,
	);
	const note = dataTable(say('Note the new status', 'Anotar o novo status'), {
		...inTable('update'),
		...conditions(['hash', 'eq', `={{ ${now}.hash }}`]),
		...mapped({ payment_status: `={{ ${now}.payment_status }}` }),
	});
	return [tell, note];
}

const inPlace = (say: Say): string =>
	say(
		'Put what you do with a sale in place of *Tell the team*, or after it, but before *Note the new status*: what fails is then done again. **Deliver only if `payment_status` is `paid`.**',
		'Coloque o que você faz com a venda no lugar de *Avisar a equipe*, ou depois dele, mas antes de *Anotar o novo status*: o que falhar é feito de novo. **Entregue só se `payment_status` for `paid`.**',
	);

/** Charges, and keeps the charge in the table that the two others work with. */
export const reconciliationCharge: Recipe = (say) => {
	const start = orderForm(say);
	const charge = chargeOrder(say, from(start));
	const remember = dataTable(say('Remember the charge', 'Guardar a cobrança'), {
		...inTable('insert'),
		...mapped(
			Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, `={{ $json.${name} }}`])),
		),
	});
	return {
		name: say('Reconciliation 1: charge and remember', 'Conferência 1: cobrar e guardar'),
		notes: [
			say(
				'## Reconciliation, 1 of 3\nA lost webhook should cost you minutes, not a sale. This workflow charges by PIX and keeps the charge in the data table `pix_charges` (created if it is not there).\n\nIn your own workflows, put *Remember the charge* after every *Create PIX*: only what is in the table is followed.',
				'## Conferência, 1 de 3\nSe um webhook se perder, você perde minutos, não a venda. Este fluxo gera o Pix e guarda a cobrança na tabela de dados `pix_charges` (criada se não existir).\n\nNos seus fluxos, coloque *Guardar a cobrança* depois de cada *Create PIX*: só é acompanhado o que está na tabela.',
			),
			say(
				'## Before you run it\n1. *Charge by PIX*: choose your credential and your offer. Its Notification URL must be the production URL of the trigger of *Reconciliation 2*.\n2. Press **Execute workflow** and fill in the form with your own data.\n\n**This workflow does not send the PIX.** Before you publish it, add a sender after *Remember the charge* (see the recipes *Charge by …*).',
				'## Antes de executar\n1. *Gerar Pix*: escolha sua credencial e sua oferta. A Notification URL da credencial deve ser a production URL do gatilho da *Conferência 2*.\n2. Clique em **Execute workflow** e preencha o formulário com seus próprios dados.\n\n**Este fluxo não envia o Pix.** Antes de publicar, acrescente o envio depois de *Guardar a cobrança* (veja as receitas *Cobrar por …*).',
			),
		],
		chains: [
			[start, haveTable(say), charge, remember],
			[output(charge, 1), notCharged(say, charge)],
		],
	};
};

/** Takes the notices as they come. */
export const reconciliationNotices: Recipe = (say) => {
	const start = saleTrigger(say, ['any']);
	const row = dataTable(say('Find its row', 'Buscar a linha'), {
		...inTable('get'),
		...conditions(['hash', 'eq', `={{ ${from(start)}.hash }}`]),
		limit: 1,
	});
	const changed = onlyChanged(say('Only what changed', 'Só o que mudou'), from(start));
	return {
		name: say('Reconciliation 2: changes at once', 'Conferência 2: mudanças na hora'),
		notes: [
			say(
				'## Reconciliation, 2 of 3\nThe platform tells the trigger of each change, the team is told, and then the row of the charge follows. If a webhook comes twice, or *Reconciliation 3* has found the change before, the team is told once. It is told again only if something fails in between, or if *Reconciliation 3* finds the change at the same moment. A transaction that is not in the table is not reported.',
				'## Conferência, 2 de 3\nA plataforma avisa o gatilho de cada mudança, a equipe é avisada, e só depois a linha da cobrança acompanha. Se um webhook chegar duas vezes, ou a *Conferência 3* já tiver achado a mudança, a equipe é avisada uma vez só. O aviso só se repete se algo falhar no meio, ou se a *Conferência 3* achar a mudança no mesmo instante. Cobrança fora da tabela não gera aviso.',
			),
			[
				say('## Before you publish it', '## Antes de publicar'),
				say(
					'1. *When a sale changes*: choose your credential.',
					'1. *Quando uma venda muda*: escolha sua credencial.',
				),
				say(
					'2. *Tell the team*: choose your Telegram credential and enter the id of your group.',
					'2. *Avisar a equipe*: escolha sua credencial do Telegram e coloque o id do seu grupo.',
				),
				`3. ${publishNote(say)}`,
				'',
				inPlace(say),
			].join('\n'),
		],
		chains: [[start, haveTable(say), row, changed, ...tellAndNote(say, start)]],
	};
};

/** Finds what no notice told of. */
export const reconciliationSchedule: Recipe = (say) => {
	const start = schedule(say(`Every ${MINUTES} minutes`, `A cada ${MINUTES} minutos`), MINUTES);
	const open = dataTable(say('Still open', 'Ainda em aberto'), {
		...inTable('get'),
		...conditions(
			...OVER.map((status): [string, string, string] => ['payment_status', 'neq', status]),
			['createdAt', 'gt', `={{ $now.minus({ days: ${DAYS} }).toISO() }}`],
		),
		returnAll: true,
	});
	const ask = getTransaction(
		say('Ask the platform', 'Consultar a plataforma'),
		{ transactionHash: '={{ $json.hash }}' },
		{ onError: 'continueRegularOutput' },
	);
	const changed = onlyChanged(say('Only what changed', 'Só o que mudou'), from(open));
	return {
		name: say('Reconciliation 3: find what was missed', 'Conferência 3: achar o que faltou'),
		notes: [
			say(
				`## Reconciliation, 3 of 3\nWebhooks get lost, and the platform gives no list of transactions. So this reads each charge of the table that is still open, every ${MINUTES} minutes, for ${DAYS} days, and tells what has changed as *Reconciliation 2* does. What could not be reported is reported by the next run.\n\nThat is about ${RUNS_A_MONTH.toLocaleString('en-US')} executions a month, and one read per open charge each time.`,
				`## Conferência, 3 de 3\nWebhooks se perdem, e a plataforma não tem lista de cobranças. Por isso este fluxo consulta, a cada ${MINUTES} minutos e por ${DAYS} dias, cada cobrança da tabela ainda em aberto, e avisa o que mudou como a *Conferência 2*. O que não pôde ser avisado vai na execução seguinte.\n\nSão cerca de ${RUNS_A_MONTH.toLocaleString('pt-BR')} execuções por mês, e uma consulta por cobrança em aberto em cada uma.`,
			),
			`${say(
				'## Before you publish it\n1. *Ask the platform*: choose your credential.\n2. *Tell the team*: choose your Telegram credential and enter the id of your group.\n3. Publish it.',
				'## Antes de publicar\n1. *Consultar a plataforma*: escolha sua credencial.\n2. *Avisar a equipe*: escolha sua credencial do Telegram e coloque o id do seu grupo.\n3. Publique.',
			)}\n\n${inPlace(say)}`,
		],
		chains: [[start, haveTable(say), open, ask, changed, ...tellAndNote(say, ask)]],
	};
};
