import { startSandbox, type SandboxOptions } from '../../../sandbox';
import { useTimeLapse } from '../../../support/timeLapse';
import { at, call, create, type Reply } from './support';

useTimeLapse();

async function flood(options: SandboxOptions, requests: number): Promise<Reply[]> {
	const sandbox = await startSandbox(options);
	const replies: Reply[] = [];
	for (let i = 0; i < requests; i += 1) replies.push(await call(sandbox, 'GET', '/products'));
	await sandbox.close();
	return replies;
}

describe('20 requests a minute', () => {
	test('counts down in the headers and refuses the 21st', async () => {
		const replies = await flood({}, 21);
		const left = replies.map(({ headers }) => headers.get('x-ratelimit-remaining'));
		expect(replies.map(({ status }) => status)).toEqual([...Array<number>(20).fill(200), 429]);
		expect(left[0]).toBe('19');
		expect(left[19]).toBe('0');
		const refused = replies[20];
		expect(refused?.body).toEqual({ message: 'Too Many Attempts.' });
		expect(refused?.headers.get('x-ratelimit-limit')).toBe('20');
		const wait = Number(refused?.headers.get('retry-after'));
		expect(wait).toBeGreaterThan(55);
		expect(wait).toBeLessThanOrEqual(60);
		const reset = Number(refused?.headers.get('x-ratelimit-reset'));
		expect(Math.abs(reset - (Date.now() / 1000 + wait))).toBeLessThan(3);
		expect(replies[0]?.headers.get('retry-after')).toBeNull();
	});

	test.each(['fixed', 'sliding'] as const)(
		'opens again after a scaled minute (%s window), and says so in real seconds',
		async (rateLimitWindow) => {
			const options = { clockScale: 300, requestsPerMinute: 2, rateLimitWindow };
			const sandbox = await startSandbox(options);
			const statuses: number[] = [];
			const list = async (): Promise<Reply> => {
				const reply = await call(sandbox, 'GET', '/products');
				statuses.push(reply.status);
				return reply;
			};
			await list();
			await list();
			expect((await list()).headers.get('retry-after')).toBe('1');
			await new Promise((resolve) => setTimeout(resolve, 220));
			await list();
			expect(statuses).toEqual([200, 200, 429, 200]);
			await sandbox.close();
		},
	);

	test('counts only GET /products, unless writes are limited, too', async () => {
		const sandbox = await startSandbox({
			requestsPerMinute: 1,
			writesPerMinute: 1,
			qrImage: 'absent',
		});
		await call(sandbox, 'GET', '/products');
		const hash = await create(sandbox);
		for (let i = 0; i < 3; i += 1) {
			expect((await call(sandbox, 'GET', `/transactions/${hash}`)).status).toBe(200);
		}
		await expect(create(sandbox)).rejects.toThrow('Too Many Attempts.');
		expect(sandbox.charges()).toBe(1);
		await sandbox.close();
	});

	test('can be without limit, or without its headers', async () => {
		const free = await flood({ requestsPerMinute: null }, 30);
		expect(free.every(({ status }) => status === 200)).toBe(true);
		const bare = await flood({ requestsPerMinute: 1, rateLimitHeaders: false }, 2);
		expect(bare[1]?.status).toBe(429);
		expect([...(bare[1]?.headers.keys() ?? [])].join()).not.toMatch(/ratelimit|retry-after/);
	});

	test('does not charge the budget for a wrong token or a fault in front of the service', async () => {
		const sandbox = await startSandbox({ requestsPerMinute: 5 });
		await call(sandbox, 'GET', '/products', undefined, { authorization: 'Bearer x' });
		sandbox.addFault({ kind: 'status', status: 502 });
		await call(sandbox, 'GET', '/products');
		const reply = await call(sandbox, 'GET', '/products');
		expect(reply.headers.get('x-ratelimit-remaining')).toBe('4');
		expect(at(reply.body, 'meta', 'total')).toBe(137);
		await sandbox.close();
	});
});
