import { endPage, only } from './nodes';
import { html, notCharged, plain, reais } from './parts';
import { from, type Node, type Say } from './workflow';

const STYLE = `<style>
main { max-width: 420px; margin: 0 auto; padding: 24px 16px; text-align: center; font-size: 16px; line-height: 1.5; color: #333 }
[hidden] { display: none !important }
h1 { font-size: 20px }
main p, main ol { margin-top: 12px }
main ol { padding-left: 20px; text-align: left }
b { font-size: 28px }
img { width: 240px; max-width: 100% }
textarea { width: 100%; height: 84px; margin-top: 12px; padding: 8px; border: 1px solid #ccc; border-radius: 8px; font: 13px monospace; word-break: break-all }
button, a.button { display: block; width: 100%; margin-top: 12px; padding: 14px; border: 0; border-radius: 8px; background: #0a7c4a; color: #fff; font-size: 16px; font-weight: bold; text-decoration: none }
</style>`;

/** The Clipboard API needs an origin, and n8n's sandboxed page has none; `execCommand` works. */
const copyScript = (say: Say): string => `<script>
document.getElementById('copy').onclick = function () {
	var code = document.getElementById('code');
	code.focus();
	code.select();
	if (document.execCommand('copy')) this.textContent = '${say('Copied ✓', 'Copiado ✓')}';
};
</script>`;

/**
 * Shows the PIX to the customer after the form: picture, code, amount, and what happens next.
 *
 * @param sale expression that reads the charge, if another node has replaced its item
 */
export function pixPage(say: Say, next: string, sale = '$json'): Node {
	const ifCode = `{{ ${sale}.pix_qr_code ? '' : 'hidden' }}`;
	const unlessCode = `{{ ${sale}.pix_qr_code ? 'hidden' : '' }}`;
	const amount = plain(`${reais(say, `${sale}.amount_reais?`)} ?? '${say('Your PIX', 'Seu Pix')}'`);
	return endPage(
		say('Show the PIX', 'Mostrar o Pix'),
		`${STYLE}
<main ${ifCode}>
<h1>${say('Your PIX is ready', 'Seu Pix está pronto')}</h1>
<p><b>${amount}</b><br>${html(`${sale}.product_title ?? ''`)}</p>
<img src="{{ ${sale}.pix_qr_code_image ?? '' }}" alt="QR Code">
<ol><li>${say('Open the app of your bank and choose PIX.', 'Abra o app do seu banco e escolha Pix.')}</li><li>${say('Scan the QR code, or copy the code and paste it under Pix Copia e Cola.', 'Escaneie o QR Code, ou copie o código e cole em Pix Copia e Cola.')}</li></ol>
<textarea id="code" readonly>${html(`${sale}.pix_qr_code`)}</textarea>
<button id="copy">${say('Copy the PIX code', 'Copiar código Pix')}</button>
<p>${next}</p>
</main>
<main ${unlessCode}>
<h1>{{ ${sale}.payment_status === 'paid' ? '${say('This order is paid', 'Este pedido já está pago')}' : '${say('We received your order', 'Recebemos seu pedido')}' }}</h1>
<p>${say('You need not send the form again. If something is missing, write to us.', 'Não precisa enviar o formulário de novo. Se faltar alguma coisa, fale com a gente.')}</p>
</main>
${copyScript(say)}`,
	);
}

/** The fields of the form, by their names in an error. */
const asked = (say: Say): Array<[pattern: string, label: string]> => [
	['Customer CPF or CNPJ|customer.document', say('your CPF or CNPJ', 'seu CPF ou CNPJ')],
	[
		'Customer Phone|customer.phone_number',
		say(
			'your WhatsApp, with area code (or + and the country)',
			'seu WhatsApp, com DDD (ou + e o país)',
		),
	],
	['Customer Email|customer.email', say('your e-mail', 'seu e-mail')],
	['Customer Name|customer.name', say('your name', 'seu nome')],
];

/** Whether an `error` says what became of the charge. */
const IS_KNOWN = "['notSent', 'refused'].includes(error.outcome)";

/** An expression for the field of the form that an `error` names. */
function wrongField(say: Say): string {
	const said =
		"[error.message, ...(error.messages ?? []), ...Object.keys(error.fields ?? {})].join(' ')";
	return `((said) => ${JSON.stringify(asked(say))}.find(([pattern]) => new RegExp(pattern).test(said))?.[1])(${said})`;
}

/** For an order that cannot be charged. Fails the execution unless the customer can correct the order. */
export function notChargedSteps(say: Say, form: Node, charge: Node): Node[] {
	const isForTeam = `((error) => !(${IS_KNOWN} && ${wrongField(say)}))(${from(charge)}.error)`;
	return [
		notChargedPage(say, form),
		only(say('Unless it is a typo', 'Se não for erro de digitação'), isForTeam),
		notCharged(say, charge),
	];
}

/**
 * Shows which field to correct, with a link to the form, if nothing was charged; asks the customer to wait if the charge
 * may exist. The error's own texts are English and for the team.
 */
function notChargedPage(say: Say, form: Node): Node {
	const order = from(form);
	const name = say('name', 'nome');
	const link = `$execution.resumeFormUrl.replace(/form-waiting.*/, '') + (${order}.formMode === 'test' ? 'form-test/' : 'form/') + $('${form.name}').params.options.path + '?' + ['${name}', 'email', 'whatsapp'].map((field) => field + '=' + encodeURIComponent(${order}[field] ?? '')).join('&')`;
	const texts = {
		wait: [
			say('We received your order', 'Recebemos seu pedido'),
			say(
				'You need not send the form again: we will contact you.',
				'Não precisa enviar de novo: vamos entrar em contato com você.',
			),
		],
		correct: [
			say('Please check', 'Confira'),
			say(
				'Something in it is not right. Nothing was charged: correct it and send the form again.',
				'Tem algo errado nesse campo. Nada foi cobrado: corrija e envie de novo.',
			),
		],
		retry: [
			say('Your PIX could not be created', 'Não conseguimos gerar seu Pix'),
			say(
				'Nothing was charged. Try again in a few minutes, or write to us.',
				'Nada foi cobrado. Tente de novo em alguns minutos ou fale com a gente.',
			),
		],
	};
	const back = say('Back to the form', 'Voltar ao formulário');
	const content = `((error) => { const field = ${wrongField(say)}; const isKnown = ${IS_KNOWN}; const [heading, text] = (${JSON.stringify(texts)})[isKnown ? (field ? 'correct' : 'retry') : 'wait']; const link = isKnown ? '<a class="button" href="' + ${link} + '">${back}</a>' : ''; return '<h1>' + [heading, isKnown && field].filter(Boolean).join(' ') + '</h1><p>' + text + '</p>' + link; })($json.error)`;
	return endPage(
		say('Tell the customer', 'Avisar o cliente'),
		`${STYLE}\n<main>{{ ${content} }}</main>`,
	);
}
