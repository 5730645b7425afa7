import { branches, httpRequest, postgres, sendEmail } from './nodes';
import { onlyMyProduct, publishNote, saleTrigger, showAddress, TEXTS } from './parts';
import { from, output, type Node, type Recipe, type Say } from './workflow';

/** Statuses on the way to a refund or a chargeback are left alone: they may still end well. */
const REVERSED = ['refunded', 'chargeback', 'chargedback'];

interface Access {
	what: string;
	how: string;
	/** Nodes between the trigger and the decision. */
	first?: Node[];
	grant: Node;
	revoke: Node;
}

function granting(say: Say, name: string, access: (start: Node) => Access) {
	const start = saleTrigger(say, ['paid', 'reversed'], onlyMyProduct(say));
	const { what, how, first = [], grant, revoke } = access(start);
	const of = (field: string): string => `${from(start)}.${field}`;
	const decide = branches(say('Paid or returned?', 'Aprovada ou devolvida?'), {
		[say('grant', 'liberar')]: `${of('payment_status')} === 'paid'`,
		[say('revoke', 'retirar')]: `${JSON.stringify(REVERSED)}.includes(${of('payment_status')})`,
	});
	const mail = sendEmail(say('Tell the customer', 'Avisar o cliente'), {
		fromEmail: say('Your shop <shop@example.com>', 'Sua loja <loja@example.com>'),
		toEmail: `={{ ${of('customer_email')} }}`,
		subject: say('=Your access is open', '=Seu acesso está liberado'),
		emailFormat: 'text',
		text: `=${TEXTS.access(say, {
			name: `{{ (${of('customer_name')} ?? '').trim().split(/\\s+/)[0] || '${say('there', 'tudo bem')}' }}`,
			product: `{{ ${of('product_title')} ?? '${say('your order', 'seu pedido')}' }}`,
			email: `{{ ${of('customer_email')} }}`,
		})}`,
		options: { appendAttribution: false },
	});
	return {
		name,
		notes: [
			`${what}\n\n${say(
				'A payment grants the access and tells the customer; a refund or a chargeback takes it away.',
				'Venda aprovada libera o acesso e avisa o cliente; reembolso ou chargeback retira.',
			)}`,
			[
				say('## Before you publish it', '## Antes de publicar'),
				say(
					'1. *When a sale changes*: choose your credential, your **product**, and the **lowest price** at which you sell it. Without them, one cent paid for any product would open the access; n8n does not publish the workflow before.',
					'1. *Quando uma venda muda*: escolha sua credencial, seu **produto** e o **menor preço** pelo qual você vende. Sem isso, um centavo pago por qualquer produto liberaria o acesso; o n8n não publica o fluxo antes.',
				),
				`2. ${how}`,
				say(
					'3. *Tell the customer*: choose your SMTP credential, enter your sender address, and the link of your members area.',
					'3. *Avisar o cliente*: escolha sua credencial SMTP, escreva seu endereço de remetente e o link da sua área de membros.',
				),
				`4. ${publishNote(say)}`,
			].join('\n'),
		],
		chains: [
			[start, ...first, decide, grant, mail],
			[output(decide, 1), revoke],
			[showAddress(say)],
		] satisfies ReturnType<Recipe>['chains'],
	};
}

/** A members area with an address for it. */
export const accessByHttp: Recipe = (say) =>
	granting(
		say,
		say('Access after payment, by HTTP', 'Acesso depois do pagamento, por HTTP'),
		(start) => {
			const post = (name: string, path: string): Node =>
				httpRequest(name, {
					method: 'POST',
					url: `https://members.example.com/api/access/${path}`,
					authentication: 'genericCredentialType',
					genericAuthType: 'httpHeaderAuth',
					sendBody: true,
					bodyParameters: {
						parameters: [
							{ name: 'email', value: `={{ ${from(start)}.customer_email }}` },
							{ name: 'name', value: `={{ ${from(start)}.customer_name }}` },
							{ name: 'product', value: `={{ ${from(start)}.product_title }}` },
							{ name: 'transaction', value: `={{ ${from(start)}.hash }}` },
						],
					},
					options: {},
				});
			return {
				what: say(
					'## Access in your members area\nFor any members area that has an address to open and close an access.',
					'## Acesso na área de membros\nPara qualquer área de membros que tenha um endereço para abrir e fechar o acesso.',
				),
				how: say(
					'*Grant* and *Revoke the access*: enter the addresses from the documentation of your members area, and choose a *Header Auth* credential.',
					'*Liberar* e *Retirar o acesso*: coloque os endereços que estão na documentação da sua área de membros e escolha uma credencial *Header Auth*.',
				),
				grant: post(say('Grant the access', 'Liberar o acesso'), 'grant'),
				revoke: post(say('Revoke the access', 'Retirar o acesso'), 'revoke'),
			};
		},
	);

/** A table of who may come in. */
export const accessByPostgres: Recipe = (say) =>
	granting(
		say,
		say('Access after payment, in a table', 'Acesso depois do pagamento, em uma tabela'),
		(start) => {
			const query = (name: string, text: string, values: string[] = []): Node =>
				postgres(name, {
					operation: 'executeQuery',
					query: text,
					options:
						values.length === 0
							? {}
							: {
									// As a list: a comma in a title would end a value.
									queryReplacement: `={{ [${values.map((field) => `${from(start)}.${field}`).join(', ')}] }}`,
								},
				});
			return {
				what: say(
					'## Access in a table of Postgres\nYour members area looks into the table `access`: who has a row with `active` may come in.',
					'## Acesso em uma tabela do Postgres\nSua área de membros consulta a tabela `access`: quem tem uma linha com `active` pode entrar.',
				),
				how: say(
					'The three Postgres nodes: choose your credential. The table is created if it is not there.',
					'Nos três nós do Postgres: escolha sua credencial. Se a tabela não existir, ela é criada.',
				),
				first: [
					query(
						say('Have the table', 'Garantir a tabela'),
						'CREATE TABLE IF NOT EXISTS access (transaction_hash text PRIMARY KEY, email text NOT NULL, name text, product text, active boolean NOT NULL, changed_at timestamptz NOT NULL DEFAULT now())',
					),
				],
				grant: query(
					say('Grant the access', 'Liberar o acesso'),
					'INSERT INTO access (transaction_hash, email, name, product, active) VALUES ($1, $2, $3, $4, true) ON CONFLICT (transaction_hash) DO UPDATE SET active = true, changed_at = now() RETURNING *',
					['hash', 'customer_email', 'customer_name', 'product_title'],
				),
				revoke: query(
					say('Revoke the access', 'Retirar o acesso'),
					'UPDATE access SET active = false, changed_at = now() WHERE transaction_hash = $1 RETURNING *',
					['hash'],
				),
			};
		},
	);
