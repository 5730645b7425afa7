import { readAccount } from '../../../nodes/DigitalSales/api/account';
import { Client } from '../../../nodes/DigitalSales/api/client';
import { listProducts } from '../../../nodes/DigitalSales/api/products';
import { clearProcessWide } from '../../../nodes/DigitalSales/shared/processWide';
import { contextOf } from './context';
import { LIMIT, MINUTE_MS, Service, type Answer, type Headers, type Window } from './service';
import { VirtualTime } from './virtualTime';

/** Listings at a time in each worker, the next as soon as one has ended. */
export const AT_ONCE = 2;
/** Product > Get Many reads the first alone and the others at once. */
export const PAGES = 7;

export interface Scenario {
	workers: number;
	window: Window;
	headers: Headers;
	minutes: number;
	seed: number;
}

export interface Result {
	/** Pages, divided by what the limit allows; those of listings that failed do not count. */
	finished: number;
	/** Answers 429 for each page. */
	refused: number;
	failedListings: number;
	/** Of the listing that took longest; one that was under way at the end counts as well. */
	longestMinutes: number;
	/** What each listing would take if the workers shared equally. */
	fairMinutes: number;
}

/** Runs workers that share nothing but the account, each with more to list than the limit allows. */
export async function simulate(scenario: Scenario): Promise<Result> {
	const { workers, window, headers, minutes, seed } = scenario;
	clearProcessWide();
	const time = new VirtualTime(seed);
	const service = new Service(window, headers);
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
		fairMinutes: (workers * AT_ONCE * PAGES) / LIMIT,
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
