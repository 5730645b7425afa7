import { z } from 'zod';
import { checkSame, inTurn, type Bench } from '../bench';
import type { GroupOutcome, Outcome } from '../outcome';
import { sampleOf } from '../statistics';
import { byNextUrl, httpRequest, listProducts, splitOut } from '../workflows';

const PRODUCTS = 3_000;
const LIMIT = 20;
/** A minute of the sandbox takes this long. */
const WINDOW_SECONDS = 3;
const INTERVAL_MS = (WINDOW_SECONDS * 1_000) / LIMIT;

const failureSchema = z.object({ message: z.string() });

/** The catalog under 20 requests a minute. */
export async function limit(bench: Bench): Promise<GroupOutcome> {
	return {
		outcomes: [...(await measure(bench, 30)), ...(await measure(bench, 100))],
		method: `A sandbox whose minute takes ${WINDOW_SECONDS} s allows ${LIMIT} requests in it; our node is told so by its options Request Limit and Request Limit Window. What the limit itself allows: a burst of ${LIMIT} at once, and a whole window before each further ${LIMIT}. HTTP Request knows no limit, so its user has to set the interval between pages: ${INTERVAL_MS} ms fit.`,
	};
}

async function measure(bench: Bench, granted: number): Promise<Outcome[]> {
	const sandbox = await bench.sandbox({
		products: PRODUCTS,
		maxPageSize: granted,
		clockScale: 60 / WINDOW_SECONDS,
		requestsPerMinute: LIMIT,
		rateLimitWindow: 'sliding',
	});
	const account = await bench.account(sandbox);
	const options = { requestLimit: LIMIT, requestLimitWindow: WINDOW_SECONDS };
	const peer = (intervalMs: number) => [
		httpRequest(account.bearer, `${sandbox.baseUrl}/products`, byNextUrl(intervalMs)),
		splitOut('data'),
	];
	const ours = await bench.side(account, [listProducts(options)]);
	const paced = await bench.side(account, peer(INTERVAL_MS));
	const unset = await bench.side(account, peer(0));
	const alone = async <T>(run: () => Promise<T>): Promise<T> => {
		await new Promise((resolve) => setTimeout(resolve, (WINDOW_SECONDS + 0.5) * 1_000));
		sandbox.reset();
		return await run();
	};
	const what = `${PRODUCTS.toLocaleString('en-US')} products at ${LIMIT} a minute, up to ${granted} a page`;
	const runs = await inTurn(
		[ours, paced],
		{ warmUps: 0, counted: 3 },
		async (side) =>
			await alone(async () => {
				const { ms } = await side.run();
				const { requests } = sandbox;
				return {
					ms,
					requests: requests.length,
					refused: requests.filter(({ status }) => status === 429).length,
				};
			}),
	);
	const [own = [], peers = []] = runs;
	const requests = own[0]?.requests ?? 0;
	const allowed = Math.floor((requests - 1) / LIMIT) * WINDOW_SECONDS * 1_000;
	const refused = (rounds: typeof own): number => rounds.reduce((sum, run) => sum + run.refused, 0);
	const times = sampleOf(own.map(({ ms }) => ms));
	const outcomes: Outcome[] = [
		{
			what,
			unit: 'ms',
			ours: times,
			peer: { name: 'the limit itself', figures: sampleOf([allowed]) },
			goal: { of: 'ratio', bound: 'atMost', value: 1.05 },
			notes: [
				`${what}: ${requests} requests, ${refused(own)} of them refused (429) in all rounds together.`,
			],
		},
		{
			what,
			unit: 'ms',
			ours: times,
			peer: {
				name: `HTTP Request, ${INTERVAL_MS} ms between pages + Split Out`,
				figures: sampleOf(peers.map(({ ms }) => ms)),
			},
			notes: [`${what}, the peer: ${peers[0]?.requests} requests, ${refused(peers)} refused.`],
		},
	];
	if (granted === 30) {
		const reason = await alone(async () => failureSchema.parse(JSON.parse(await unset.failure())));
		const statuses = sandbox.requests.map(({ status }) => status);
		const passed = statuses.filter((status) => status === 200).length;
		outcomes[1]?.notes?.push(
			`With no interval set HTTP Request fails after ${passed} pages: "${reason.message}" (answer ${statuses.at(-1)}), and the ${passed * 30} products that it has read are lost with the execution.`,
		);
	}
	await alone(async () => await checkSame([ours], PRODUCTS));
	return outcomes;
}
