import type { FastifyInstance } from 'fastify';
import { timestamp } from './clock';
import { escapeHtml } from './http';
import { BASE_PATH } from './options';
import type { DeliveryReport } from './notices';
import type { SandboxParts } from './parts';
import { NOTICE_SHAPES } from './shapes';
import type { StoredTransaction } from './types';

const REAIS = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });

/** Cents as people read them. */
function reais(cents: number): string {
	return REAIS.format(cents / 100);
}

/** Epoch ms as the time of day, in the zone of created_at. */
function clockTime(epochMs: number): string {
	return timestamp(epochMs).slice(11);
}

const SCRIPT = `
async function refresh() {
	const answer = await fetch('/').catch(() => undefined);
	if (!answer) return;
	const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
	for (const list of document.querySelectorAll('[data-live]')) {
		// Somebody may be choosing a status there.
		if (list.querySelector('select:focus')) continue;
		const next = fresh.getElementById(list.id).innerHTML;
		if (list.shown !== next) list.innerHTML = list.shown = next;
	}
}

async function post(path, body) {
	const answer = await fetch(path, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body ?? {}),
	});
	return await answer.json();
}

async function act(button, work) {
	button.disabled = true;
	try { await work(); } finally { button.disabled = false; }
	await refresh();
}

document.addEventListener('click', (event) => {
	const button = event.target.closest('button');
	if (!button) return;
	const { copy, pay, setStatus } = button.dataset;
	if (copy !== undefined) {
		navigator.clipboard.writeText(copy).then(() => {
			button.textContent = 'Copied';
			setTimeout(() => { button.textContent = 'Copy'; }, 1200);
		});
	}
	if (pay) act(button, () => post('/sandbox/transactions/' + encodeURIComponent(pay) + '/pay'));
	if (setStatus) {
		const status = document.getElementById('status-of-' + setStatus).value;
		act(button, () => post('/sandbox/transactions/' + encodeURIComponent(setStatus) + '/status', { status }));
	}
	if (button.dataset.reset !== undefined) act(button, () => post('/sandbox/reset'));
});

document.getElementById('test-notice').addEventListener('submit', (event) => {
	event.preventDefault();
	const form = event.target;
	const result = document.getElementById('test-notice-result');
	result.textContent = 'Sending...';
	act(form.querySelector('button'), async () => {
		const report = await post('/sandbox/test-notice', Object.fromEntries(new FormData(form)));
		result.textContent = report.status
			? 'Answered ' + report.status + ': ' + (report.answer || '(empty)')
			: (report.outcome ?? 'error') + ': ' + (report.error ?? report.message ?? '');
	}).catch((error) => { result.textContent = String(error); });
});

setInterval(refresh, 2000);
`;

const OFFERED_STATUSES = [
	'waiting_payment',
	'processing',
	'authorized',
	'paid',
	'refused',
	'canceled',
	'expired',
	'waiting_refund',
	'refunded',
	'chargeback',
	'med_received',
];

const GOOD = ['paid'];
const OPEN = ['waiting_payment', 'pending', 'processing', 'authorized', 'analyzing'];

/** One transaction with its code, its buttons and what became of its notifications. */
function transactionCard(stored: StoredTransaction, deliveries: readonly DeliveryReport[]): string {
	const hash = escapeHtml(stored.hash);
	return `<article class="card transaction" id="transaction-${hash}" data-testid="transaction-${hash}">
	${codePicture(stored)}
	<div class="body">
		<header>
			<div class="who">
				<strong class="amount">${reais(stored.amount)}</strong>
				<span class="name">${escapeHtml(stored.customer.name)}</span>
				${stored.sample ? '<span class="badge">sample</span>' : ''}
			</div>
			${statusBadge(stored)}
		</header>
		<p class="product">${escapeHtml(stored.product.title)}</p>
		<p class="meta"><code>${hash}</code> <span>${escapeHtml(stored.created_at)}</span></p>
		${copyCode(stored)}
		<p class="meta notify"><span class="label">Notifies</span>
			${stored.postback_url ? `<code data-testid="url-${hash}">${escapeHtml(stored.postback_url)}</code>` : '<em>no address</em>'}
		</p>
		${deliveryList(stored, deliveries)}
		<div class="actions">
			<button class="primary" data-pay="${hash}" data-testid="pay-${hash}">Pay</button>
			<select id="status-of-${hash}" data-testid="status-select-${hash}" aria-label="Other status">
				${OFFERED_STATUSES.map((status) => `<option>${status}</option>`).join('')}
			</select>
			<button data-set-status="${hash}" data-testid="set-status-${hash}">Set status</button>
		</div>
	</div>
</article>`;
}

function codePicture({ hash, pix }: StoredTransaction): string {
	if (!pix) return '<div class="qr none">no code</div>';
	const source = `/sandbox/qr/${encodeURIComponent(hash)}.png`;
	return `<img class="qr" src="${source}" width="148" height="148" alt="QR code" data-testid="qr-${escapeHtml(hash)}">`;
}

function copyCode({ hash, pix }: StoredTransaction): string {
	if (!pix) return '';
	const code = escapeHtml(pix.pix_qr_code);
	return `<div class="copy"><code title="${code}" data-testid="code-${escapeHtml(hash)}">${code}</code>
			<button class="small" data-copy="${code}">Copy</button></div>`;
}

function statusBadge({ hash, payment_status: status }: StoredTransaction): string {
	const tone = GOOD.includes(status) ? 'good' : OPEN.includes(status) ? 'open' : 'bad';
	return `<span class="badge ${tone}" data-testid="badge-${escapeHtml(hash)}">${escapeHtml(status)}</span>`;
}

function deliveryList(
	{ hash, postback_url: address }: StoredTransaction,
	deliveries: readonly DeliveryReport[],
): string {
	if (deliveries.length === 0) return '';
	const lines = deliveries.map((delivery) => {
		const tone = delivery.outcome === 'delivered' ? 'good' : 'bad';
		const result = delivery.status === null ? delivery.outcome : String(delivery.status);
		const next = delivery.nextAttemptAt ?? 0;
		const again = next > Date.now() ? `again ${clockTime(next)}` : '';
		const elsewhere = delivery.url === address ? '' : 'to another address';
		const title = escapeHtml(`${delivery.url}\n${delivery.error ?? delivery.answer}`);
		return `<li title="${title}"><span class="badge ${tone}">${result}</span>
			<span>${clockTime(delivery.at)}</span> <code>${escapeHtml(delivery.payment_status)}</code>
			<span>shape ${delivery.shape}, attempt ${delivery.attempt}</span> <span>${again}${elsewhere}</span></li>`;
	});
	return `<ul class="deliveries" data-testid="deliveries-${escapeHtml(hash)}">${lines.join('')}</ul>`;
}

const SHOWN_TRANSACTIONS = 50;
const SHOWN_OFFERS = 20;
const SHOWN_REQUESTS = 25;
const SHOWN_DELIVERIES = 8;

/** What a person pastes into the credential. */
function credentialCard({ settings, origin }: SandboxParts): string {
	const rows = [
		['Base URL', 'base-url', `${origin()}${BASE_PATH}`],
		['API token', 'api-token', settings.apiToken],
		['Body API token', 'body-api-token', settings.bodyApiToken],
	] as const;
	const lines = rows.map(
		([label, id, value]) => `<dt>${label}</dt>
			<dd><code data-testid="${id}">${escapeHtml(value)}</code>
			<button class="small" data-copy="${escapeHtml(value)}">Copy</button></dd>`,
	);
	return `<section class="card"><h2>Credential</h2><dl class="pairs">${lines.join('')}</dl></section>`;
}

/** The form that posts a notice by hand. */
function testNoticeCard(): string {
	return `<section class="card"><h2>Send a test notice</h2>
	<p class="hint">Posts the newest transaction, or a paid sample, to an address on this machine:
	paste the test URL of a trigger that is listening.</p>
	<form id="test-notice" data-testid="test-notice">
		<input id="test-notice-url" data-testid="test-notice-url" name="url" type="url" required
			placeholder="http://localhost:5678/webhook-test/..." aria-label="Address" autocomplete="off">
		<select id="test-notice-shape" data-testid="test-notice-shape" name="shape" aria-label="Shape">
			${NOTICE_SHAPES.map((shape) => `<option>${shape}</option>`).join('')}
		</select>
		<button class="primary" data-testid="test-notice-send">Send</button>
	</form>
	<p class="result" id="test-notice-result" data-testid="test-notice-result" role="status"></p></section>`;
}

/** The transactions, newest first. */
function transactionList({ state, notifier }: SandboxParts): string {
	const shown = state.transactions.slice(-SHOWN_TRANSACTIONS).reverse();
	if (shown.length === 0) {
		return '<p class="card empty" id="no-transactions">No transactions yet. Create a PIX charge and it appears here.</p>';
	}
	const byHash = groupByHash(notifier.deliveries);
	return shown
		.map((stored) => {
			const deliveries = byHash.get(stored.hash) ?? [];
			return transactionCard(stored, deliveries.slice(-SHOWN_DELIVERIES).reverse());
		})
		.join('\n');
}

/** Offers made through the API, newest first. */
function offerList({ state }: SandboxParts): string {
	const shown = state.createdOffers.slice(-SHOWN_OFFERS).reverse();
	if (shown.length === 0) return '<p class="empty" id="no-offers">None yet.</p>';
	return shown
		.map(({ offer, product_hash: product }) => {
			const title = escapeHtml(offer.title ?? 'Untitled');
			const every = offer.interval ? `<span class="badge">${offer.interval}</span>` : '';
			return `<div class="row" id="offer-${offer.hash}" data-testid="offer-${offer.hash}">
				<strong>${title}</strong> <span>${reais(offer.price)}</span> ${every}
				<code>${offer.hash}</code> <span class="dim">of ${escapeHtml(product)}</span></div>`;
		})
		.join('\n');
}

/** The latest requests, newest first. */
function requestList({ log }: SandboxParts): string {
	const shown = log.requests.slice(-SHOWN_REQUESTS).reverse();
	if (shown.length === 0) return '<p class="empty" id="no-requests">None yet.</p>';
	return shown
		.map((request, index) => {
			const good = request.status !== null && request.status < 400;
			const status = request.status ?? (request.durationMs === null ? 'open' : 'cut');
			const query = new URLSearchParams(request.query).toString();
			// The base path is the same in nearly all of them and would push out what differs.
			const inside = request.path.startsWith(`${BASE_PATH}/`);
			const path = inside ? request.path.slice(BASE_PATH.length) : request.path;
			const address = escapeHtml(path + (query ? `?${query}` : ''));
			const faults = request.faults.map((kind) => `<span class="badge bad">${kind}</span>`);
			return `<div class="row request" id="request-${index}">
				<span class="badge ${good ? 'good' : 'bad'}">${status}</span>
				<code>${escapeHtml(request.method)}</code> <code class="path" title="${address}">${address}</code>
				<span class="dim">${clockTime(request.at)}</span> ${faults.join(' ')}</div>`;
		})
		.join('\n');
}

function groupByHash(deliveries: readonly DeliveryReport[]): Map<string, DeliveryReport[]> {
	const groups = new Map<string, DeliveryReport[]>();
	for (const delivery of deliveries) {
		const group = groups.get(delivery.hash);
		if (group) group.push(delivery);
		else groups.set(delivery.hash, [delivery]);
	}
	return groups;
}

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --good: #0a7d43; --open: #a06a00; --bad: #c03030; }
body { margin: 0 auto; max-width: 1240px; padding: 28px 20px; font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0; }
h2 { font-size: 15px; margin: 0 0 12px; }
p, dl, dd, ul { margin: 0; padding: 0; }
.top, .who, .meta, .row, li, .actions, .copy, dd { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.top { margin-bottom: 22px; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 400px; gap: 20px; align-items: start; }
.columns > *, #transactions { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
@media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } }
.card { border: 1px solid var(--line); border-radius: 12px; padding: 18px; }
.empty, .dim, .hint, .meta, li, dt { opacity: 0.7; font-size: 13px; }
code { font: 12.5px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
button, select, input { font: inherit; font-size: 14px; padding: 5px 10px; }
form { display: grid; grid-template-columns: 1fr auto; gap: 8px; margin-top: 12px; }
form input { grid-column: 1 / -1; }
.badge { border: 1px solid; border-radius: 99px; padding: 0 9px; font-size: 12px; }
.good { color: var(--good); }
.open { color: var(--open); }
.bad { color: var(--bad); }
.transaction { display: flex; gap: 18px; }
.transaction .body { flex: 1; min-width: 0; display: grid; gap: 8px; align-content: start; }
.transaction header { display: flex; justify-content: space-between; }
.amount { font-size: 19px; }
.qr { width: 148px; height: 148px; flex: none; border-radius: 8px; background: #fff; }
.copy { flex-wrap: nowrap; }
.copy code { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
`;

/** The page for people at `/`, and nothing a browser would otherwise ask for in vain. */
export function registerPage(app: FastifyInstance, parts: SandboxParts): void {
	app.get('/', async (_request, reply) => {
		void reply.header('content-type', 'text/html; charset=UTF-8');
		void reply.header('cache-control', 'no-store');
		return await reply.send(renderPage(parts));
	});
	app.get('/favicon.ico', async (_request, reply) => await reply.code(204).send());
}

function renderPage(parts: SandboxParts): string {
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Digital Sales sandbox</title>
<style>${STYLE}</style>
</head>
<body>
<div class="page">
<div class="top">
	<h1>Digital Sales sandbox</h1>
	<p>Simulates the service on your machine. No money moves here.</p>
	<button class="small" data-reset data-testid="reset">Reset</button>
</div>
<div class="columns">
<main>
	<div id="transactions" data-live data-testid="transactions">${transactionList(parts)}</div>
</main>
<aside>
	${credentialCard(parts)}
	${testNoticeCard()}
	<section class="card"><h2>Offers created</h2>
		<div id="offers" data-live data-testid="offers">${offerList(parts)}</div></section>
	<section class="card"><h2>Latest requests</h2>
		<div id="requests" data-live data-testid="requests">${requestList(parts)}</div></section>
</aside>
</div>
</div>
<script>${SCRIPT}</script>
</body>
</html>
`;
}
