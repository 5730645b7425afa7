import type { SandboxParts } from '../api/context';
import { escapeHtml } from '../http/htmlPages';
import type { DeliveryReport } from '../notices/notifier';
import { NOTICE_SHAPES } from '../notices/shapes';
import { clockTime, reais } from './format';
import { transactionCard } from './transactionCard';

const SHOWN_TRANSACTIONS = 50;
const SHOWN_OFFERS = 20;
const SHOWN_REQUESTS = 25;
const SHOWN_DELIVERIES = 8;

/** What a person pastes into the credential. */
export function credentialCard({ settings, origin }: SandboxParts): string {
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
export function testNoticeCard(): string {
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
export function transactionList({ state, notifier }: SandboxParts): string {
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
export function offerList({ state }: SandboxParts): string {
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
export function requestList({ log, settings }: SandboxParts): string {
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
