import type { FastifyInstance } from 'fastify';
import { timestamp } from './clock';
import { escapeHtml } from './http';
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

/**
 * Refreshes the lists from the server's own rendering, child by child: a child that did not
 * change, or in which somebody is choosing or typing, stays as it is.
 */
const SCRIPT = `
const REFRESH_MS = 2000;
const rendered = new WeakMap();

function refreshList(list, fresh) {
	const keep = new Set();
	let before = list.firstElementChild;
	for (const child of [...fresh.children]) {
		const known = document.getElementById(child.id);
		const text = child.outerHTML;
		const stale = !known || (rendered.get(known) ?? known.outerHTML) !== text;
		const shown = known && (!stale || isBusy(known)) ? known : child;
		if (known && shown === child) {
			for (const select of known.querySelectorAll('select')) {
				const next = child.querySelector('#' + CSS.escape(select.id));
				if (next) next.value = select.value;
			}
			if (before === known) before = child;
			known.replaceWith(child);
		}
		if (shown === child || !stale) rendered.set(shown, text);
		keep.add(shown);
		if (shown === before) before = before.nextElementSibling;
		else list.insertBefore(shown, before);
	}
	for (const child of [...list.children]) if (!keep.has(child)) child.remove();
}

function isBusy(element) {
	const active = document.activeElement;
	return element.contains(active) && active.tagName !== 'BUTTON';
}

async function refresh() {
	try {
		const answer = await fetch('/');
		const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
		for (const list of document.querySelectorAll('[data-live]')) {
			const next = fresh.getElementById(list.id);
			if (next) refreshList(list, next);
		}
		document.body.dataset.offline = '';
	} catch {
		document.body.dataset.offline = 'yes';
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

setInterval(refresh, REFRESH_MS);
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
		['Base URL', 'base-url', `${origin()}${settings.basePath}`],
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
function requestList({ log, settings }: SandboxParts): string {
	const shown = log.requests.slice(-SHOWN_REQUESTS).reverse();
	if (shown.length === 0) return '<p class="empty" id="no-requests">None yet.</p>';
	return shown
		.map((request, index) => {
			const good = request.status !== null && request.status < 400;
			const status = request.status ?? (request.durationMs === null ? 'open' : 'cut');
			const query = new URLSearchParams(request.query).toString();
			// The base path is the same in nearly all of them and would push out what differs.
			const inside = request.path.startsWith(`${settings.basePath}/`);
			const path = inside ? request.path.slice(settings.basePath.length) : request.path;
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
:root {
	color-scheme: light dark;
	--back: #f4f5f7; --card: #ffffff; --line: #e1e4e8; --text: #1c2127; --dim: #68717d;
	--accent: #0f766e; --on-accent: #ffffff; --code: #f1f3f5;
	--good: #0b6b3a; --good-back: #dcf5e6; --open: #7a5200; --open-back: #fdf0cf;
	--bad: #9b1c1c; --bad-back: #fde4e4; --plain: #475061; --plain-back: #e9ecf1;
}
@media (prefers-color-scheme: dark) {
	:root {
		--back: #14171b; --card: #1d2126; --line: #30363d; --text: #e8eaed; --dim: #99a2ad;
		--accent: #2dd4bf; --on-accent: #06201d; --code: #272c33;
		--good: #6ee7a8; --good-back: #123524; --open: #fcd575; --open-back: #3a2e0d;
		--bad: #fca5a5; --bad-back: #431a1a; --plain: #b6c0cd; --plain-back: #2c323a;
	}
}
* { box-sizing: border-box; }
body {
	margin: 0; background: var(--back); color: var(--text);
	font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
.page { max-width: 1240px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 15px; margin: 0 0 12px; }
.top { display: flex; align-items: baseline; gap: 14px; flex-wrap: wrap; margin-bottom: 22px; }
.top p { margin: 0; color: var(--dim); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 400px; gap: 20px; align-items: start; }
@media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } }
.columns > * { display: grid; gap: 16px; min-width: 0; grid-template-columns: minmax(0, 1fr); }
#transactions { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px; margin: 0; }
.empty, .dim, .hint, .meta { color: var(--dim); }
.hint { margin: 0 0 12px; font-size: 13px; }
.empty { margin: 0; }
.row.empty, section .empty { font-size: 13px; }
code {
	font: 12.5px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
	background: var(--code); border-radius: 5px; padding: 2px 6px; overflow-wrap: anywhere;
}
.pairs { margin: 0; display: grid; gap: 10px; }
.pairs dt { color: var(--dim); font-size: 12px; }
.pairs dd { margin: 0; display: flex; gap: 8px; align-items: center; justify-content: space-between; }
button, select, input {
	font: inherit; font-size: 14px; color: var(--text); background: var(--card);
	border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px; min-height: 36px;
}
button { cursor: pointer; font-weight: 550; }
button:hover { border-color: var(--accent); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.small { font-size: 12px; padding: 2px 9px; min-height: 26px; flex: none; }
button:disabled { opacity: 0.55; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
form { display: grid; grid-template-columns: 1fr auto; gap: 8px; }
form input { grid-column: 1 / -1; width: 100%; }
.result { margin: 10px 0 0; font-size: 13px; color: var(--dim); overflow-wrap: anywhere; }
.result:empty { display: none; }
.badge {
	display: inline-block; border-radius: 99px; padding: 1px 9px; font-size: 12px; font-weight: 600;
	white-space: nowrap; color: var(--plain); background: var(--plain-back);
}
.badge.good { color: var(--good); background: var(--good-back); }
.badge.open { color: var(--open); background: var(--open-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.transaction { display: flex; gap: 18px; }
.transaction .body {
	flex: 1; min-width: 0; display: grid; gap: 8px; align-content: start;
	grid-template-columns: minmax(0, 1fr);
}
.transaction p { margin: 0; }
.transaction header { display: flex; justify-content: space-between; align-items: center; gap: 10px; }
.who { display: flex; align-items: baseline; gap: 10px; flex-wrap: wrap; }
.amount { font-size: 19px; letter-spacing: -0.01em; }
.qr { width: 148px; height: 148px; flex: none; border-radius: 8px; background: #fff; border: 1px solid var(--line); }
.qr.none {
	display: grid; place-items: center; color: var(--dim); background: var(--code); font-size: 13px;
}
.meta { font-size: 13px; display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.copy { display: flex; gap: 8px; align-items: center; }
.copy code { flex: 0 1 auto; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; overflow-wrap: normal; min-width: 0; }
.deliveries { list-style: none; margin: 0; padding: 0; display: grid; gap: 4px; font-size: 13px; color: var(--dim); }
.deliveries li { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.actions { display: flex; gap: 8px; flex-wrap: wrap; margin-top: 4px; }
.row {
	display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; font-size: 13px;
	padding: 7px 0; border-top: 1px solid var(--line);
}
.row:first-child { border-top: 0; padding-top: 0; }
.request { flex-wrap: nowrap; }
.request .path { flex: 1; min-width: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; overflow-wrap: normal; }
@media (max-width: 620px) { .transaction { flex-direction: column; } }
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
