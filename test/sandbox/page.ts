import type { FastifyInstance, FastifyReply } from 'fastify';
import { timestamp } from './clock';
import { escapeHtml } from './http';
import { registerNextCharge, renderNextCharge } from './nextCharge';
import type { DeliveryReport } from './notifications';
import { BASE_PATH } from './options';
import type { SandboxParts } from './parts';
import { qrImageBase64 } from './pix';
import { NOTICE_SHAPES, type NoticeShape } from './shapes';
import type { StoredTransaction } from './types';

/** The actions of the page's buttons. */
interface Controls {
	setStatus(hash: string, status: string): Promise<unknown>;
	notify(hash: string, options: { shape?: NoticeShape; url: string }): Promise<DeliveryReport>;
}

/** Registers the page at `/`, its buttons and the images of the QR codes. */
export function registerPage(app: FastifyInstance, parts: SandboxParts, controls: Controls): void {
	const { state } = parts;
	const parseForm = (body: unknown): URLSearchParams => new URLSearchParams(String(body));
	const redirectBack = (reply: FastifyReply, answer = ''): FastifyReply =>
		reply.redirect(`/?${new URLSearchParams({ answer }).toString()}`, 303);

	registerNextCharge(app, parts);
	app.get<{ Querystring: { answer?: string } }>('/', async (request, reply) => {
		void reply
			.header('content-type', 'text/html; charset=UTF-8')
			.header('cache-control', 'no-store');
		return await reply.send(renderPage(parts, request.query.answer ?? ''));
	});
	app.get('/favicon.ico', async (_request, reply) => await reply.code(204).send());
	app.get<{ Params: { name: string } }>('/sandbox/qr/:name', async (request, reply) => {
		const pix = state.transaction(request.params.name.replace(/\.png$/, ''))?.pix;
		if (!pix) return await reply.code(404).send();
		const image = pix.qr_code_base64 ?? (await qrImageBase64(pix.pix_qr_code));
		return await reply.type('image/png').send(Buffer.from(image, 'base64'));
	});
	app.post<{ Params: { hash: string } }>('/sandbox/status/:hash', async (request, reply) => {
		const input = parseForm(request.body);
		await controls.setStatus(request.params.hash, input.get('pay') ?? input.get('status') ?? '');
		return await redirectBack(reply);
	});
	app.post('/sandbox/test-notice', async (request, reply) => {
		const input = parseForm(request.body);
		const newest = state.transactions.at(-1);
		if (!newest) return await redirectBack(reply, 'Nothing has been charged yet.');
		const shape = NOTICE_SHAPES.find((one) => one === input.get('shape'));
		const sent = await controls.notify(newest.hash, { shape, url: input.get('url') ?? '' });
		return await redirectBack(
			reply,
			sent.status ? `Answered ${sent.status}: ${sent.answer}` : sent.answer,
		);
	});
}

const REAIS = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });
const formatReais = (cents: number): string => REAIS.format(cents / 100);

/** The time of day in the time zone of created_at. */
const formatTime = (epochMs: number): string => timestamp(epochMs).slice(11);

const STATUSES = [
	...['waiting_payment', 'processing', 'authorized', 'paid', 'refused', 'canceled', 'expired'],
	...['waiting_refund', 'refunded', 'chargeback', 'med_received'],
];

const renderOptions = (values: readonly string[]): string =>
	values.map((value) => `<option>${value}</option>`).join('');

const renderCopyable = (
	value: string,
	id: string,
): string => `<code data-testid="${id}">${value}</code>
	<button value="${value}" onclick="navigator.clipboard.writeText(this.value)">Copy</button>`;

/** A transaction with its code, its buttons and the results of its notifications. */
function renderTransaction(
	stored: StoredTransaction,
	deliveries: readonly DeliveryReport[],
): string {
	const { hash, pix, postback_url: address, payment_status: status } = stored;
	const sent = deliveries.map(
		({ at, payment_status, attempt, outcome, status, url }) =>
			`<li>${formatTime(at)} ${escapeHtml(payment_status)}, attempt ${attempt}: ${status ?? outcome}
			${url === address ? '' : 'from another address'}`,
	);
	return `<section>
	${pix ? `<img src="/sandbox/qr/${hash}.png" alt="QR code">` : ''}
	<h2>${formatReais(stored.amount)} ${escapeHtml(stored.customer.name)}
		<mark data-testid="badge-${hash}">${escapeHtml(status)}</mark></h2>
	<p>${escapeHtml(stored.product.title)}, ${stored.created_at}, <code>${hash}</code></p>
	${pix ? `<p>${renderCopyable(pix.pix_qr_code, `code-${hash}`)}</p>` : ''}
	<p>Notifies ${address ? `<code>${escapeHtml(address)}</code>` : 'nobody'}</p>
	<ul>${sent.join('')}</ul>
	<form method="post" action="/sandbox/status/${hash}">
		<button name="pay" value="paid" data-testid="pay-${hash}">Pay</button>
		<select name="status" aria-label="Other status">${renderOptions(STATUSES)}</select>
		<button>Set status</button>
	</form></section>`;
}

const SHOWN = 50;

/** The part of the page that updates itself. */
function renderContent({ state, notifier, log }: SandboxParts): string {
	const cards = state.transactions.slice(-SHOWN).map((stored) =>
		renderTransaction(
			stored,
			notifier.deliveries.filter(({ hash }) => hash === stored.hash),
		),
	);
	const offers = state.createdOffers
		.slice(-SHOWN)
		.map(({ offer, product_hash }) =>
			[offer.title ?? 'Untitled', formatReais(offer.price), offer.hash, `of ${product_hash}`].join(
				'  ',
			),
		);
	const requests = log.requests.slice(-SHOWN).map(({ at, status, method, path, query }) => {
		const search = new URLSearchParams(query).toString();
		return `${formatTime(at)}  ${status ?? 'cut'}  ${method} ${path.replace(BASE_PATH, '')} ${search}`;
	});
	return `${cards.reverse().join('') || '<section>Create a PIX charge and it appears here.</section>'}
	<section><h2>Offers created</h2><pre>${escapeHtml(offers.reverse().join('\n'))}</pre></section>
	<section><h2>Latest requests</h2><pre>${escapeHtml(requests.reverse().join('\n'))}</pre></section>`;
}

function renderPage(parts: SandboxParts, answer: string): string {
	const { settings, origin } = parts;
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Digital Sales sandbox</title>
<style>
body { margin: 0 auto; max-width: 1200px; padding: 20px; font: 15px/1.5 system-ui, sans-serif; }
section { border: 1px solid #8886; border-radius: 12px; padding: 0 18px; margin: 16px 0; overflow: auto; }
img { float: right; width: 148px; margin: 18px 0 18px 18px; }
#page { display: grid; grid-template-columns: minmax(0, 1fr) 400px; gap: 16px; }
form { margin: 16px 0; }
mark { background: #8883; border-radius: 99px; padding: 0 9px; font-size: 14px; }
code { overflow-wrap: anywhere; }
h2 { font-size: 18px; }
</style>
</head>
<body>
<h1>Digital Sales sandbox</h1>
<p>Simulates the platform on your machine. No money moves here.</p>
<div id="page">
<main>${renderContent(parts)}</main>
<aside>
<section>
	<p>Base URL ${renderCopyable(`${origin}${BASE_PATH}`, 'base-url')}</p>
	<p>API token ${renderCopyable(settings.apiToken, 'api-token')}</p>
	<p>Body API token ${renderCopyable(settings.bodyApiToken, 'body-api-token')}</p>
</section>
<section>
	<p>Send a notice of the newest transaction to an address on this machine, such as the test URL of a
	trigger that is listening:</p>
	<form method="post" action="/sandbox/test-notice">
		<input name="url" type="url" required size="40" aria-label="Address" data-testid="test-notice-url">
		<select name="shape" aria-label="Shape">${renderOptions(NOTICE_SHAPES)}</select>
		<button data-testid="test-notice-send">Send</button>
	</form>
	<p data-testid="test-notice-result">${escapeHtml(answer)}</p>
</section>
<section>
	${renderNextCharge(parts)}
</section>
</aside>
</div>
<script>
setInterval(async () => {
	const page = await fetch('/').then((answer) => answer.text()).catch(() => '');
	const fresh = new DOMParser().parseFromString(page, 'text/html').querySelector('main');
	const shown = document.querySelector('main');
	// The user may be choosing a status.
	if (!fresh || shown.querySelector('select:focus')) return;
	if (fresh.innerHTML !== shown.innerHTML) shown.replaceWith(fresh);
}, 2000);
</script>
</body>
</html>
`;
}
