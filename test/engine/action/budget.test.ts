import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { useAccount } from '../../helpers/account';

const LIST = { resource: 'product', operation: 'getAll', simplify: false };

describe('The rate limit of GET /products', () => {
	const account = useAccount({ products: 5, requestsPerMinute: 20 });

	// Requests of this minute count until a request succeeds.
	test.each<[string, Fault, number]>([
		['503', { kind: 'status', status: 503 }, 60],
		['nothing', { kind: 'resetBeforeProcessing' }, 60],
		['200', { kind: 'delay', ms: 0 }, 5],
	])(
		'still counts earlier requests after a 429 until a request succeeds: the next gets %s',
		async (_name, fault, seconds) => {
			const first = { ...LIST, limit: 1 };
			for (let sent = 0; sent < 19; sent++) await account.run(first);
			account.sandbox.addFault({ kind: 'retryAfter', seconds: 5 });
			account.sandbox.addFault({ kind: 'delay', ms: 0 });
			account.sandbox.addFault(fault);
			const startedAt = clock.elapsed();

			await account.run(first);

			const waited = (clock.elapsed() - startedAt) / 1_000;
			expect(waited).toBeGreaterThan(seconds * 0.8);
			expect(waited).toBeLessThan(seconds * 1.2);
		},
	);
});
