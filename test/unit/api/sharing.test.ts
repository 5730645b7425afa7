import { Readable } from 'node:stream';
import type { IAllExecuteFunctions } from 'n8n-workflow';
import { readAccount } from '../../../nodes/DigitalSales/api/account';
import { Client } from '../../../nodes/DigitalSales/api/client';
import { listProducts } from '../../../nodes/DigitalSales/api/products';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { seededRandom } from '../../sandbox/catalog';
import { useTimeLapse } from '../../helpers/timeLapse';

interface SimulatedRequest {
	qs?: { page?: number };
	/** JSON. */
	body?: string;
}

interface SimulatedAnswer {
	status: number;
	headers?: Record<string, string>;
	body?: unknown;
}

/** The part of n8n that the client uses. A function replaces the platform. */
function contextOf(answer: (request: SimulatedRequest) => Promise<SimulatedAnswer>) {
	const httpRequestWithAuthentication = async (_credential: string, request: SimulatedRequest) => {
		const { status, headers = {}, body = { success: status === 200 } } = await answer(request);
		return { statusCode: status, headers, body: streamOf(body) };
	};
	// Nothing else of it is used.
	return { helpers: { httpRequestWithAuthentication } } as unknown as IAllExecuteFunctions;
}

function streamOf(content: unknown): Readable {
	return Readable.from([Buffer.from(JSON.stringify(content))]);
}

const LIMIT = 20;
const MINUTE_MS = 60_000;

/** The wait that a 429 asks for: long enough, one second, or none. */
type RetryAfter = 'right' | 'tooShort' | 'none';

/** An account of 20 requests in any minute. A refused request does not count. */
class Service {
	/** When each request was allowed. */
	readonly allowed: number[] = [];
	refused = 0;

	constructor(private readonly retryAfter: RetryAfter = 'none') {}

	answer(body?: unknown): SimulatedAnswer {
		const now = clock.elapsed();
		const counted = this.allowed.filter((at) => at > now - MINUTE_MS);
		if (counted.length < LIMIT) {
			this.allowed.push(now);
			return { status: 200, body };
		}
		this.refused++;
		const [first = now] = counted;
		const waitSeconds = Math.ceil((first + MINUTE_MS - now) / 1_000);
		const seconds = { right: waitSeconds, tooShort: 1, none: undefined }[this.retryAfter];
		return { status: 429, headers: seconds ? { 'retry-after': String(seconds) } : {} };
	}
}

/** A limiter belongs to its token, so another token is another process. */
const processOf = (name: string | number) =>
	readAccount({ baseUrl: 'https://api.example.com/v1', apiToken: `process-${name}-`.repeat(3) });

useTimeLapse();
beforeEach(() => {
	clearProcessState();
	jest.spyOn(clock, 'random').mockImplementation(seededRandom(1));
});
afterEach(() => jest.restoreAllMocks());

describe('Workers that share nothing but an account of 20 requests a minute', () => {
	/** Listings at a time in each worker, the next as soon as one has ended. */
	const AT_ONCE = 2;
	/** Product > Get Many reads the first alone and the others at once. */
	const PAGES = 7;
	const MINUTES = 5;

	/** Runs workers, each with more to list than the limit allows. */
	async function simulate(workers: number, retryAfter: RetryAfter) {
		const service = new Service(retryAfter);
		const listings: Array<{ hasFailed?: boolean; pages: number }> = [];
		const work = async (client: (read: () => void) => Client) => {
			await clock.sleep(clock.random() * 10_000);
			for (;;) {
				const listing: (typeof listings)[number] = { pages: 0 };
				listings.push(listing);
				const reading = client(() => listing.pages++);
				await listProducts(reading, {}).catch(() => (listing.hasFailed = true));
			}
		};
		/** A request takes 80 to 400 ms and is counted half-way. */
		const contextFor = (read: () => void): IAllExecuteFunctions =>
			contextOf(async ({ qs: { page = 1 } = {} }) => {
				const halfMs = 40 + clock.random() * 160;
				await clock.sleep(halfMs);
				const meta = { total: PAGES, per_page: 1, last_page: PAGES };
				const answer = service.answer({ data: [{ hash: `p${page}` }], meta });
				await clock.sleep(halfMs);
				if (answer.status === 200) read();
				return answer;
			});
		for (let worker = 0; worker < workers; worker++) {
			for (let line = 0; line < AT_ONCE; line++) {
				void work((read) => new Client(contextFor(read), processOf(worker), { priority: 'bulk' }));
			}
		}
		await clock.sleep(MINUTES * MINUTE_MS);
		const pages = listings.map((one) => (one.hasFailed ? 0 : one.pages));
		return {
			/** Of listings that did not fail, divided by what the limit allows. */
			finished: pages.reduce((sum, count) => sum + count, 0) / (LIMIT * MINUTES),
			refused: service.refused,
		};
	}

	test.each([
		[2, 'right'],
		[3, 'tooShort'],
		[5, 'none'],
	] as const)(
		'finish most of the lists that the limit allows: %i workers, Retry-After %s',
		async (workers, retryAfter) => {
			const { finished } = await simulate(workers, retryAfter);

			expect(finished).toBeGreaterThanOrEqual(0.75);
		},
	);

	test('a single worker never gets a 429', async () => {
		const { finished, refused } = await simulate(1, 'none');

		expect(refused).toBe(0);
		expect(finished).toBeGreaterThanOrEqual(0.98);
	});
});
