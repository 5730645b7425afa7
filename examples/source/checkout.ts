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
 * Looks for the end of the execution. After it, n8n writes the same page again, with what the wait has found. A failed
 * execution has no page.
 */
const paymentScript = (isOver: string): string => `<script>
(function look() {
	if (${plain(isOver)}) return;
	setTimeout(function () {
		var status = new URL(location.href);
		status.pathname += '/n8n-execution-status';
		fetch(status)
			.then(function (answer) { return answer.text(); })
			.then(function (text) {
				if (/new|running|waiting/.test(text)) return look();
				if (text.trim() === 'success') return location.reload();
				document.getElementById('pix').hidden = true;
				document.getElementById('received').hidden = false;
			})
			.catch(look);
	}, 2000);
})();
</script>`;

/** A part of a page. */
const part = (id: string, condition: string, content: string): string =>
	`<main id="${id}" {{ ${condition} ? '' : 'hidden' }}>\n${content}\n</main>`;

const notice = (heading: string, text: string): string => `<h1>${heading}</h1>\n<p>${text}</p>`;

function summary(say: Say, sale: string): string {
	const amount = plain(`${reais(say, `${sale}.amount_reais?`)} ?? '${say('Your PIX', 'Seu Pix')}'`);
	return `<p><b>${amount}</b><br>${html(`${sale}.product_title ?? ''`)}</p>`;
}

/** Amount, picture and code of a charge, and what happens next. */
function pix(say: Say, sale: string, next: string): string {
	return `<h1>${say('Your PIX is ready', 'Seu Pix está pronto')}</h1>
${summary(say, sale)}
<img src="{{ ${sale}.pix_qr_code_image ?? '' }}" alt="QR Code">
<ol><li>${say('Open the app of your bank and choose PIX.', 'Abra o app do seu banco e escolha Pix.')}</li><li>${say('Scan the QR code, or copy the code and paste it under Pix Copia e Cola.', 'Escaneie o QR Code, ou copie o código e cole em Pix Copia e Cola.')}</li></ol>
<textarea id="code" readonly>${html(`${sale}.pix_qr_code`)}</textarea>
<button id="copy">${say('Copy the PIX code', 'Copiar código Pix')}</button>
<p>${next}</p>`;
}

/** For an order without a code to show, which is mostly a paid one that was sent again. */
function received(say: Say, sale: string): string {
	const paid = say('This order is paid', 'Este pedido já está pago');
	const open = say('We received your order', 'Recebemos seu pedido');
	return notice(
		`{{ ${sale}.payment_status === 'paid' ? '${paid}' : '${open}' }}`,
		say(
			'You need not send the form again. If something is missing, write to us.',
			'Não precisa enviar o formulário de novo. Se faltar alguma coisa, fale com a gente.',
		),
	);
}

const showPix = (say: Say): string => say('Show the PIX', 'Mostrar o Pix');

/**
 * Shows the PIX to the customer after the form.
 *
 * @param sale expression that reads the charge, if another node has replaced its item
 */
export function pixPage(say: Say, next: string, sale = '$json'): Node {
	const parts = [
		part('pix', `${sale}.pix_qr_code`, pix(say, sale, next)),
		part('received', `!${sale}.pix_qr_code`, received(say, sale)),
	];
	return endPage(showPix(say), [STYLE, ...parts, copyScript(say)].join('\n'));
}

/** Shows the PIX and, on the same page, whether the payment has arrived. */
export function paymentPage(say: Say, charge: Node, wait: Node): Node {
	const sale = `$('${charge.name}').first().json`;
	const isOver = `$('${wait.name}').isExecuted`;
	const isPaid = `${isOver} && $('${wait.name}').all(1).length > 0`;
	const next = say(
		'Keep this page open: it shows when the payment has arrived.',
		'Deixe esta página aberta: ela mostra quando o pagamento cair.',
	);
	const paid = notice(
		say('Payment confirmed ✅', 'Pagamento confirmado ✅'),
		say('Thank you! We have received your PIX.', 'Obrigado! Recebemos seu Pix.'),
	);
	const unpaid = notice(
		say('The payment has not arrived', 'O pagamento não caiu'),
		say(
			'If you have paid, write to us. Otherwise, fill in the form again.',
			'Se você já pagou, fale com a gente. Se não, preencha o formulário de novo.',
		),
	);
	const parts = [
		part('pix', `!${isOver} && ${sale}.pix_qr_code`, pix(say, sale, next)),
		part('received', `!${isOver} && !${sale}.pix_qr_code`, received(say, sale)),
		part('paid', isPaid, `${paid}\n${summary(say, sale)}`),
		part('unpaid', `${isOver} && !(${isPaid})`, unpaid),
	];
	const scripts = [copyScript(say), paymentScript(isOver)];
	return endPage(showPix(say), [STYLE, ...parts, ...scripts].join('\n'));
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
