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
import { from, output, type Recipe } from './workflow';

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
	// Only the trigger receives refunds, so nothing is charged unless it is published.
	const charge = chargeOrder(say, from(order), { webhooksGoTo: 'trigger' });
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
				`## Finds payments whose webhook was lost\nEach charge is kept in the data table \`pix_charges\`. The platform sends its changes to the trigger. If a webhook is lost, *Wait for the payment* finds the payment within about an hour, for ${DAYS} days. Either way, the team is told once.`,
				`## Acha os pagamentos cujo webhook se perdeu\nCada cobrança fica na tabela de dados \`pix_charges\`. A plataforma avisa o gatilho das mudanças. Se um webhook se perde, *Aguardar o pagamento* encontra o pagamento em cerca de uma hora, durante ${DAYS} dias. De um jeito ou de outro, a equipe é avisada uma vez só.`,
			),
			say(
				`## Before you publish it
1. *Charge by PIX*: choose your credential and your offer. *When a sale changes* and *Wait for the payment*: choose your credential.
2. *Tell the team*: choose your Telegram credential and enter the id of your group.
3. The customer sees the PIX on the page. To send it as well, add a sender after *Show the PIX* (see the recipes *Charge by …*).
4. Publish it, open the **Production URL** of *Order form* and order with your own data: this makes a real charge, and creates the table.

**Only what is in the table is followed.** In your own workflows, set **Webhooks Go To** of *Create PIX* to *Another Address* with the production URL of *When a sale changes*, and copy *Remember the charge* and all nodes after it behind *Create PIX*.`,
				`## Antes de publicar
1. *Gerar Pix*: escolha sua credencial e sua oferta. *Quando uma venda muda* e *Aguardar o pagamento*: escolha sua credencial.
2. *Avisar a equipe*: escolha sua credencial do Telegram e coloque o id do seu grupo.
3. O cliente vê o Pix na página. Para enviar também, coloque o envio depois de *Mostrar o Pix* (veja as receitas *Cobrar por …*).
4. Publique, abra a **Production URL** de *Formulário do pedido* e faça um pedido com seus próprios dados: isso gera uma cobrança de verdade e cria a tabela.

**Só é acompanhado o que está na tabela.** Nos seus outros fluxos, escolha *Another Address* em **Webhooks Go To** do *Create PIX*, com a production URL de *Quando uma venda muda*, e copie *Guardar a cobrança* e todos os nós seguintes para depois do *Create PIX*.`,
			),
			say(
				'## Do more than tell the team\nPut what you do with a sale in place of *Tell the team*, or after it, but before *Note the new status*. If it fails, press **Retry**. **Deliver only if `payment_status` is `paid`.**',
				'## Fazer mais do que avisar\nColoque o que você faz com a venda no lugar de *Avisar a equipe*, ou depois dele, mas antes de *Anotar o novo status*. Se falhar, clique em **Retry**. **Entregue só se `payment_status` for `paid`.**',
			),
		],
		chains: [
			[order, table, charge, remember, page, wait, decided, row, changed, tell, note],
			[output(wait, 1), decided],
			[told, decided],
			[output(charge, 1), ...notChargedSteps(say, order, charge)],
		],
	};
};
