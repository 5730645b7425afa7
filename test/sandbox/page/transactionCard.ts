import { escapeHtml } from '../http/htmlPages';
import type { DeliveryReport } from '../notices/notifier';
import type { StoredTransaction } from '../types';
import { clockTime, reais } from './format';

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
export function transactionCard(
	stored: StoredTransaction,
	deliveries: readonly DeliveryReport[],
): string {
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
