import type { SandboxParts } from '../api/context';
import { readShape } from '../api/transactionShape';

/** What GET /sandbox/state tells; transactions in the shape of GET /transactions/{hash}. */
export function stateView(parts: SandboxParts): object {
	const { settings, state, notifier, log, faults } = parts;
	return {
		base_url: `${parts.origin()}${settings.basePath}`,
		page_url: `${parts.origin()}/`,
		counts: {
			products: state.products.length,
			offers: state.createdOffers.length,
			transactions: state.transactions.length,
			charges: state.charges(),
			requests: log.requests.length,
			deliveries: notifier.deliveries.length,
			pending_resends: notifier.pending,
		},
		transactions: state.transactions.map((stored) => readShape(stored, settings.qrImage)),
		offers: state.createdOffers,
		deliveries: notifier.deliveries,
		faults: faults.list(),
	};
}
