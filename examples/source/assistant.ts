import {
	agent,
	chatAnswer,
	chatMemory,
	chatModel,
	chatTrigger,
	emailReview,
	salesTool,
} from './nodes';
import { TO_CHOOSE } from './parts';
import type { Node, Recipe, Say } from './workflow';

/** An argument that the model fills in. */
const ask = (key: string, description: string, type = 'string'): string =>
	`$fromAI('${key}', \`${description}\`, '${type}')`;

/** The tools by which a model sells; it never decides a price. */
function tools(
	say: Say,
	orderReference: (offer: string, quantity: string) => string,
): { list: Node; charge: Node; check: Node } {
	const list = say('List the products', 'Listar os produtos');
	const quantity = ask(
		'quantity',
		say(
			'How many units the customer buys, usually 1',
			'Quantas unidades o cliente compra, em geral 1',
		),
		'number',
	);
	const offer = ask(
		'offer_hash',
		say(
			`Hash of the offer, as ${list} gives it in offer_hash`,
			`Código da oferta, como ${list} mostra em offer_hash`,
		),
	);
	return {
		list: salesTool(
			list,
			say(
				'Lists the products for sale, one row per offer: title, offer_hash, offer_title, price_reais, sale_page. Search by part of the title, or leave the search empty for all.',
				'Lista os produtos à venda, uma linha por oferta: title, offer_hash, offer_title, price_reais, sale_page. Busque por parte do título, ou deixe a busca vazia para ver todos.',
			),
			'product',
			'getAll',
			{
				limit: 20,
				filters: {
					search: `={{ ${ask('search', say('A part of the title of the product, or an empty text for all products', 'Parte do título do produto, ou texto vazio para todos'))} }}`,
					status: 1,
				},
				splitOffers: true,
			},
		),
		charge: salesTool(
			say('Charge by PIX', 'Gerar Pix'),
			say(
				'Charges a customer by PIX for one offer at its price in the catalog. Use it once per order, and only after the customer has agreed. Returns the hash of the transaction, the amount and pix_qr_code, the text to pay with.',
				'Cobra um cliente por Pix por uma oferta, pelo preço do catálogo. Use uma vez por pedido, e só depois que o cliente concordar. Devolve o código da cobrança (hash), o valor e pix_qr_code, o Pix copia e cola.',
			),
			'transaction',
			'create',
			{
				cart: {
					items: [
						{
							offerHash: { __rl: true, mode: 'hash', value: `={{ ${offer} }}` },
							quantity: `={{ ${quantity} }}`,
						},
					],
				},
				customerName: `={{ ${ask('customer_name', say('Full name of the customer', 'Nome completo do cliente'))} }}`,
				customerEmail: `={{ ${ask('customer_email', say('E-mail address of the customer', 'E-mail do cliente'))} }}`,
				customerPhone: `={{ ${ask('customer_phone', say('Phone number of the customer with area code, for example (11) 91234-5678', 'Telefone do cliente com DDD, por exemplo (11) 91234-5678'))} }}`,
				customerDocument: `={{ ${ask('customer_document', say('CPF or CNPJ of the customer', 'CPF ou CNPJ do cliente'))} }}`,
				orderReference: orderReference(offer, quantity),
			},
		),
		check: salesTool(
			say('Check the payment', 'Conferir o pagamento'),
			say(
				'Reads a transaction by its hash. payment_status is paid once the money has arrived.',
				'Consulta uma cobrança pelo código (hash). payment_status é paid quando o dinheiro chegou.',
			),
			'transaction',
			'get',
			{
				transactionHash: `={{ ${ask('transaction_hash', say('Hash of the transaction, as Charge by PIX gave it', 'Código da cobrança (hash), como Gerar Pix devolveu'))} }}`,
			},
		),
	};
}

/** An agent that sells in a chat; a person looks at each charge before it is made. */
export const salesAssistant: Recipe = (say) => {
	const start = chatTrigger(say('When a customer writes', 'Quando um cliente escreve'));
	const { list, charge, check } = tools(
		say,
		// The same chat asks for the same offer once: a second request returns the existing charge.
		(offer, quantity) =>
			`={{ $('${start.name}').first().json.sessionId }} {{ ${quantity} }} {{ ${offer} }}`,
	);
	const assistant = agent(
		say('Sales assistant', 'Assistente de vendas'),
		say(
			`You are the sales assistant of an online school. Answer in the language of the customer, in a few friendly sentences.

Use ${list.name} to see what is for sale. Prices come in reais in the field price_reais; name no other prices, and give no discounts.

Before you use ${charge.name}, ask for the full name, e-mail, phone with area code and CPF or CNPJ, repeat what the customer will buy and what it costs, and wait until the customer agrees. Charge each order once. Then send the text in pix_qr_code alone on a line of its own, to be copied into the banking app.

If a charge is declined by the team, say that a person will get in touch. When the customer says that it is paid, use ${check.name}. Only payment_status paid is paid. If a tool says that the charge may exist, do not try again: say that a person will look into it.`,
			`Você é o assistente de vendas de uma escola online. Responda em português, em poucas frases simpáticas.

Use ${list.name} para ver o que está à venda. Os preços vêm em reais no campo price_reais; não diga outros preços e não dê desconto.

Antes de usar ${charge.name}, peça nome completo, e-mail, telefone com DDD e CPF ou CNPJ, repita o que o cliente vai comprar e quanto custa, e espere o cliente concordar. Cobre cada pedido uma vez. Depois envie o texto de pix_qr_code sozinho em uma linha, para copiar no app do banco.

Se a equipe recusar a cobrança, diga que uma pessoa vai entrar em contato. Quando o cliente disser que pagou, use ${check.name}. Só payment_status paid quer dizer pago. Se uma ferramenta disser que a cobrança pode existir, não tente de novo: diga que uma pessoa vai verificar.`,
		),
	);
	const given =
		"{{ Object.entries($tool.parameters).map(([field, value]) => field + ': ' + value).join('\\n') }}";
	const review = emailReview(say('A person approves the charge', 'Uma pessoa aprova a cobrança'), {
		fromEmail: TO_CHOOSE,
		toEmail: TO_CHOOSE,
		subject: say('Approve a charge', 'Aprovar uma cobrança'),
		message: say(
			`=The assistant wants to charge a customer. Check offer_hash and quantity; the price is that of the catalog:\n\n${given}`,
			`=O assistente quer gerar um Pix. Confira a oferta (offer_hash) e a quantidade (quantity); o preço é o do catálogo:\n\n${given}`,
		),
		approvalOptions: {
			values: {
				approvalType: 'double',
				approveLabel: say('Charge', 'Cobrar'),
				disapproveLabel: say('Do not charge', 'Não cobrar'),
			},
		},
		// No Limit Wait Time: when it ends, n8n 2.41 believes a model that says it was approved.
		options: { appendAttribution: false },
	});
	const answer = chatAnswer(
		say('Answer the customer', 'Responder ao cliente'),
		'={{ $json.output }}',
	);
	return {
		name: say(
			'AI sales assistant, with human review',
			'Assistente de vendas com IA e revisão humana',
		),
		notes: [
			say(
				'## A sales assistant that takes payments\n**The model never decides a price**: title and price come from the catalog. **No charge without a person**: it is made when you press *Charge* in an e-mail. Some mail programs press every link: Slack or Telegram are safer. Do not limit this wait: when time is up, a model that claims your approval charges. A chat that is closed before gets no code.',
				'## Um assistente que vende e cobra\n**O modelo nunca decide o preço**: título e preço vêm do catálogo. **Nenhuma cobrança sem uma pessoa**: ela sai quando você clica em *Cobrar* em um e-mail. Alguns programas de e-mail abrem todos os links: Slack ou Telegram são mais seguros. Não limite essa espera: quando ela acaba, um modelo que afirma ter sua aprovação cobra. Um chat fechado antes disso não recebe o código.',
			),
			say(
				'## Set it up\n1. *Chat model*, the three Digital Sales tools: your credentials.\n2. *A person approves the charge*: your SMTP credential, sender address and the address of who approves.\n3. Press **Open chat** and buy something. Once published, the chat is open to anyone with its address.',
				'## Como configurar\n1. *Modelo de chat*, as três ferramentas Digital Sales: suas credenciais.\n2. *Uma pessoa aprova a cobrança*: sua credencial SMTP, seu endereço de remetente e o de quem aprova.\n3. Clique em **Open chat** e compre algo. Depois de publicado, o chat fica aberto a quem tiver o endereço.',
			),
		],
		chains: [[start, assistant, answer]],
		attached: [
			{
				kind: 'ai_languageModel',
				nodes: [chatModel(say('Chat model', 'Modelo de chat'))],
				to: assistant,
			},
			{
				kind: 'ai_memory',
				nodes: [chatMemory(say('Memory of the chat', 'Memória do chat'))],
				to: assistant,
			},
			{ kind: 'ai_tool', nodes: [list, check, review], to: assistant },
			{ kind: 'ai_tool', nodes: [charge], to: review },
		],
	};
};
