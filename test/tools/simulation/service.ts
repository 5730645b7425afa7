export const LIMIT = 20;
export const MINUTE_MS = 60_000;

export type Window = 'sliding' | 'fixed';

/** What the service says about its limit: nothing, the truth, or something else. */
export type Headers = 'right' | 'none' | 'tooMuchLeft' | 'tooLittleLeft' | 'askTooLong';

export interface Answer {
	status: 200 | 429;
	headers: Record<string, string>;
}

/** An account of 20 requests a minute. A refused request does not count. */
export class Service {
	/** When each request was allowed. */
	readonly allowed: number[] = [];
	refused = 0;

	constructor(
		private readonly window: Window,
		private readonly headers: Headers,
	) {}

	answer(now: number): Answer {
		const begin = this.beginOfWindow(now);
		const counted = this.allowed.filter((at) => at >= begin);
		const isAllowed = counted.length < LIMIT;
		if (isAllowed) this.allowed.push(now);
		else this.refused++;
		const first = this.window === 'fixed' ? begin : (counted[0] ?? now);
		const waitSeconds = Math.max(1, Math.ceil((first + MINUTE_MS - now) / 1_000));
		const left = Math.max(0, LIMIT - counted.length - 1);
		return isAllowed
			? { status: 200, headers: this.headersOf(left) }
			: { status: 429, headers: { ...this.headersOf(0), ...this.retryAfter(waitSeconds) } };
	}

	private beginOfWindow(now: number): number {
		return this.window === 'fixed' ? now - (now % MINUTE_MS) : now - MINUTE_MS + 1;
	}

	private headersOf(left: number): Record<string, string> {
		if (this.headers === 'none') return {};
		if (this.headers === 'tooMuchLeft') return statedHeaders(60, 59);
		return statedHeaders(LIMIT, this.headers === 'tooLittleLeft' ? 0 : left);
	}

	private retryAfter(seconds: number): Record<string, string> {
		switch (this.headers) {
			case 'right':
			case 'tooLittleLeft':
				return { 'retry-after': String(seconds) };
			case 'none':
				return {};
			case 'tooMuchLeft':
				return { 'retry-after': '1' };
			case 'askTooLong':
				return { 'retry-after': '60' };
		}
	}
}

function statedHeaders(limit: number, remaining: number): Record<string, string> {
	return { 'x-ratelimit-limit': String(limit), 'x-ratelimit-remaining': String(remaining) };
}
