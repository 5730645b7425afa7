import { readAccount } from '../../nodes/DigitalSales/api/account';
import { Client, type ServiceContext } from '../../nodes/DigitalSales/api/client';
import { listProducts } from '../../nodes/DigitalSales/api/products';
import { clearProcessWide } from '../../nodes/DigitalSales/shared/processWide';
import { VirtualTime } from './clocks';

interface SimulatedRequest {
	qs?: { page?: number };
	/** JSON. */
	body?: string;
}

interface SimulatedAnswer {
	status: number;
	headers?: Record<string, string>;
	body: unknown;
}

/** What the client uses of n8n, with a function in the place of the service. */
export function contextOf(
	answer: (request: SimulatedRequest) => Promise<SimulatedAnswer>,
): ServiceContext {
	const httpRequestWithAuthentication = async (_credential: string, request: SimulatedRequest) => {
		const { status, headers = {}, body } = await answer(request);
		return { statusCode: status, headers, body: streamOf(body) };
	};
	// Nothing else of it is used.
	return { helpers: { httpRequestWithAuthentication } } as unknown as ServiceContext;
}

/** A stream that has everything to say as soon as one listens. */
function streamOf(content: unknown): unknown {
	return {
		on: (event: string, listener: (chunk?: Buffer) => void) => {
			if (event === 'data') listener(Buffer.from(JSON.stringify(content)));
			if (event === 'end') listener();
		},
		destroy: () => undefined,
	};
}

export const LIMIT = 20;
export const MINUTE_MS = 60_000;

type Window = 'sliding' | 'fixed';

/** How long a 429 asks to wait: as long as is needed, a second, a minute, or it says nothing. */
type RetryAfter = 'right' | 'tooShort' | 'tooLong' | 'none';

interface Answer {
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
		private readonly retryAfter: RetryAfter,
	) {}

	answer(now: number): Answer {
		const begin = this.window === 'fixed' ? now - (now % MINUTE_MS) : now - MINUTE_MS + 1;
		const counted = this.allowed.filter((at) => at >= begin);
		const isAllowed = counted.length < LIMIT;
		if (isAllowed) this.allowed.push(now);
		else this.refused++;
		const first = this.window === 'fixed' ? begin : (counted[0] ?? now);
		const waitSeconds = Math.max(1, Math.ceil((first + MINUTE_MS - now) / 1_000));
		const seconds = { right: waitSeconds, tooShort: 1, tooLong: 60, none: 0 }[this.retryAfter];
		if (isAllowed) return { status: 200, headers: {} };
		return { status: 429, headers: seconds ? { 'retry-after': String(seconds) } : {} };
	}
}

/** Listings at a time in each worker, the next as soon as one has ended. */
const AT_ONCE = 2;
/** Product > Get Many reads the first alone and the others at once. */
const PAGES = 7;

interface Scenario {
	workers: number;
	window: Window;
	retryAfter: RetryAfter;
	minutes: number;
	seed: number;
}

interface Result {
	/** Pages, divided by what the limit allows; those of listings that failed do not count. */
	finished: number;
	/** Answers 429 for each page. */
	refused: number;
	failedListings: number;
	/** Of the listing that took longest; one that was under way at the end counts as well. */
	longestMinutes: number;
}

/** Runs workers that share nothing but the account, each with more to list than the limit allows. */
export async function simulate(scenario: Scenario): Promise<Result> {
	const { workers, window, retryAfter, minutes, seed } = scenario;
	clearProcessWide();
	const time = new VirtualTime(seed);
	const service = new Service(window, retryAfter);
	const listings: Array<{ begun: number; ended?: number; hasFailed?: boolean; pages: number }> = [];
	const work = async (
		client: (read: () => void, signal: AbortSignal) => Client,
	): Promise<never> => {
		await time.sleep(time.random() * 10_000);
		for (;;) {
			const listing: (typeof listings)[number] = { begun: time.elapsed(), pages: 0 };
			listings.push(listing);
			await listProducts((signal) => client(() => listing.pages++, signal), {}).catch(
				() => (listing.hasFailed = true),
			);
			listing.ended = time.elapsed();
		}
	};
	await time.run(minutes * MINUTE_MS, () => {
		for (let worker = 0; worker < workers; worker++) {
			// A limiter belongs to its token, so another token is another process.
			const account = readAccount({
				baseUrl: 'https://api.example.com/v1',
				apiToken: `worker-${worker}-`.repeat(3),
			});
			const client = (read: () => void, signal: AbortSignal): Client =>
				new Client(contextOf(requestTo(service, time, read)), account, { signal });
			for (let line = 0; line < AT_ONCE; line++) void work(client);
		}
	});
	clearProcessWide();
	const end = minutes * MINUTE_MS;
	const pagesOf = (counted: typeof listings): number =>
		counted.reduce((sum, { pages }) => sum + pages, 0);
	return {
		finished: pagesOf(listings.filter(({ hasFailed }) => !hasFailed)) / (LIMIT * minutes),
		refused: service.refused / service.allowed.length,
		failedListings: listings.filter(({ hasFailed }) => hasFailed).length,
		longestMinutes:
			Math.max(...listings.map(({ begun, ended = end }) => ended - begun)) / MINUTE_MS,
	};
}

/** A request takes 80 to 400 ms and is counted half-way. */
function requestTo(
	service: Service,
	time: VirtualTime,
	read: () => void,
): Parameters<typeof contextOf>[0] {
	return async ({ qs }) => {
		const halfMs = 40 + time.random() * 160;
		await time.sleep(halfMs);
		const { status, headers } = service.answer(time.elapsed());
		await time.sleep(halfMs);
		if (status === 200) read();
		return { status, headers, body: pageOf(status, qs?.page) };
	};
}

function pageOf(status: Answer['status'], page = 1): unknown {
	if (status === 429) return { success: false, message: 'Too Many Attempts.' };
	return {
		data: [{ hash: `p${page}` }],
		meta: { total: PAGES, per_page: 1, last_page: PAGES },
	};
}
