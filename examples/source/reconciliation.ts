import type { INodeParameters } from 'n8n-workflow';
import { dataTable, only } from './nodes';
import {
	chargeOrder,
	html,
	orderForm,
	reais,
	saleTrigger,
	statusName,
	tellTeam,
	waitFor,
} from './parts';
import { notChargedSteps, pixPage } from './checkout';
import { activate, sendLink, setUpNote, tryIt } from './charging';
import { from, off, output, type Recipe } from './workflow';

const TABLE = 'pix_charges';
const COLUMNS = {
	hash: 'string',
	payment_status: 'string',
	amount_reais: 'number',
	customer_name: 'string',
};
type Column = keyof typeof COLUMNS;

const DAYS = 3;

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

const ofCharge = (hash: string): INodeParameters => ({
	matchType: 'allConditions',
	filters: { conditions: [{ keyName: 'hash', condition: 'eq', keyValue: hash }] },
});

/** Charges, and reports each change once: after its webhook or, if the webhook is lost, when the wait finds it. */
export const reconciliation: Recipe = (say) => {
	const order = orderForm(say, say('reconciled', 'conferido'));
	const table = dataTable(say('Create the table if missing', 'Criar a tabela se faltar'), {
		resource: 'table',
		operation: 'create',
		tableName: TABLE,
		columns: { column: Object.entries(COLUMNS).map(([name, type]) => ({ name, type })) },
		options: { createIfNotExists: true },
	});
	// Only the trigger gets refunds. It is not published yet when the form is tried.
	const webhooksGoTo = `={{ ${from(order)}.formMode === 'test' ? 'automatic' : 'trigger' }}`;
	const charge = chargeOrder(say, from(order), { webhooksGoTo });
	const remember = dataTable(say('Remember the charge', 'Guardar a cobrança'), {
		...inTable('insert'),
		...mapped(
			Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, `={{ $json.${name} }}`])),
		),
	});
	const page = pixPage(
		say,
		say(
			'Once the payment is there, we will write to you. You can close this page.',
			'Assim que o pagamento cair, falamos com você. Pode fechar esta página.',
		),
		from(charge),
	);
	const wait = waitFor(say, charge, { timeLimit: DAYS, timeLimitUnit: 'days' });
	const told = saleTrigger(say, ['any']);
	const decided = only(
		say('Not open any more', 'Não está mais em aberto'),
		`!!$json.payment_status && $json.payment_status !== 'waiting_payment'`,
	);
	const now = from(decided);
	const row = dataTable(say('Find its row', 'Buscar a linha'), {
		...inTable('get'),
		...ofCharge(`={{ ${now}.hash }}`),
		limit: 1,
	});
	const changed = only(
		say('Only what changed', 'Só o que mudou'),
		`$json.payment_status !== ${now}.payment_status`,
	);
	const tell = tellTeam(
		say('Tell the team', 'Avisar a equipe'),
		`ℹ️ <b>${html(statusName(say, `${now}.payment_status`))}</b>: ${html(`${now}.customer_name`)}, {{ ${reais(say, `${now}.amount_reais`)} }}\n{{ ${now}.hash }}`,
	);
	// Only after the team is informed: if that fails, the wait finds the change again.
	const note = dataTable(say('Note the new status', 'Anotar o novo status'), {
		...inTable('update'),
		...ofCharge(`={{ ${now}.hash }}`),
		...mapped({ payment_status: `={{ ${now}.payment_status }}` }),
	});
	return {
		name: say('Reconciliation: find lost webhooks', 'Conferência: achar webhooks perdidos'),
		notes: [
			say(
				`## Finds payments whose webhook was lost\nEach charge is kept in the data table \`pix_charges\`. If a webhook is lost, *Wait for the payment* finds the payment within about an hour, for ${DAYS} days. The team is told once.`,
				`## Acha os pagamentos cujo webhook se perdeu\nCada cobrança fica na tabela de dados \`pix_charges\`. Se um webhook se perde, *Aguardar o pagamento* encontra o pagamento em cerca de uma hora, durante ${DAYS} dias. A equipe é avisada uma vez.`,
			),
			`${setUpNote(say, [
				`${say(
					'The three Digital Sales nodes: your credential and offer.',
					'Os três nós Digital Sales: sua credencial e sua oferta.',
				)} ${tryIt(say)}`,
				`${say(
					'*Tell the team*: your Telegram credential and the id of your group.',
					'*Avisar a equipe*: sua credencial do Telegram e o id do seu grupo.',
				)} ${activate(say)}`,
				sendLink(say),
			])}\n\n${say(
				'Act on a sale before *Note the new status*; **deliver only if `payment_status` is `paid`**.',
				'Use a venda antes de *Anotar o novo status*; **entregue só se `payment_status` for `paid`**.',
			)}`,
		],
		chains: [
			[order, table, charge, remember, page, wait, decided, row, changed, off(tell), note],
			[output(wait, 1), decided],
			[told, decided],
			[output(charge, 1), ...notChargedSteps(say, order, charge)],
		],
	};
};
