import { performance } from 'node:perf_hooks';
import type { SandboxClock } from '../clock';

const MINUTE_MS = 60_000;

export interface Ruling {
	allowed: boolean;
	headers: Record<string, string>;
}

/**
 * Requests a minute per token and endpoint (section "Limits"), the window in sandbox time, the
 * headers as Laravel's throttle writes them and in real time.
 */
export class RateLimiter {
	private readonly hits = new Map<string, number[]>();

	constructor(
		private readonly clock: SandboxClock,
		private readonly kind: 'fixed' | 'sliding',
		private readonly sendHeaders: boolean,
	) {}

	check(key: string, limit: number | null): Ruling {
		if (limit === null) return { allowed: true, headers: {} };
		const now = performance.now();
		const window = this.clock.toReal(MINUTE_MS);
		const hits = this.open(key, now, window);
		const allowed = hits.length < limit;
		// A refused request does not count, or a client that keeps asking would never be let in.
		if (allowed) hits.push(now);
		const headers: Record<string, string> = {
			'x-ratelimit-limit': String(limit),
			'x-ratelimit-remaining': String(Math.max(0, limit - hits.length)),
		};
		if (!allowed) {
			const waitMs = (hits[0] ?? now) + window - now;
			headers['retry-after'] = String(Math.max(1, Math.ceil(waitMs / 1000)));
			headers['x-ratelimit-reset'] = String(Math.ceil((Date.now() + waitMs) / 1000));
		}
		return { allowed, headers: this.sendHeaders ? headers : {} };
	}

	reset(): void {
		this.hits.clear();
	}

	private open(key: string, now: number, window: number): number[] {
		const known = this.hits.get(key) ?? [];
		const first = known[0];
		let open = known;
		if (this.kind === 'sliding') open = known.filter((at) => now - at < window);
		else if (first !== undefined && now - first >= window) open = [];
		this.hits.set(key, open);
		return open;
	}
}
