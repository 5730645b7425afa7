import type { PaginationLie } from '../../../sandbox';
import { at, call, hashes, useSandbox, type Reply } from './support';

const held = useSandbox({ requestsPerMinute: null, products: 50 });

/** Pages of 10, as far as the list goes by its own last_page. */
async function pages(lie: PaginationLie, last: number, fresh = false): Promise<Reply[]> {
	held.sandbox.clearFaults();
	held.sandbox.addFault({ kind: 'paginationLies', lie, fresh, times: 'always' });
	const replies: Reply[] = [];
	for (let page = 1; page <= last; page += 1) {
		replies.push(await call(held.sandbox, 'GET', `/products?per_page=10&page=${page}`));
	}
	return replies;
}

const everything = (): string[] => held.sandbox.products.map(({ hash }) => hash);
const numbers = (reply: Reply | undefined): unknown => at(reply?.body, 'meta', 'last_page');

describe('a list that lies', () => {
	test('about its last page', async () => {
		const [, low] = await pages('lastPageTooLow', 2);
		expect([numbers(low), hashes(low?.body).length]).toEqual([1, 10]);
		const high = await pages('lastPageTooHigh', 7);
		expect(numbers(high[0])).toBe(10);
		expect(hashes(high[6]?.body)).toEqual([]);
	});

	test('by leaving meta out', async () => {
		expect(Object.keys((await pages('metaMissing', 1))[0]?.body as object)).toEqual([
			'data',
			'links',
		]);
		expect(Object.keys((await pages('metaAndLinksMissing', 1))[0]?.body as object)).toEqual([
			'data',
		]);
	});

	test('with numbers as texts', async () => {
		const [reply] = await pages('numbersAsStrings', 1);
		expect(at(reply?.body, 'meta')).toMatchObject({
			current_page: '1',
			last_page: '5',
			per_page: '10',
			total: '50',
		});
	});

	test.each(['repeatedPage', 'emptyPage'] as const)(
		'%s: whoever goes on to the last page gets everything',
		async (lie) => {
			const replies = await pages(lie, 6);
			expect(numbers(replies[0])).toBe(6);
			const second = hashes(replies[1]?.body);
			expect(second).toEqual(lie === 'emptyPage' ? [] : everything().slice(0, 10));
			expect(at(replies[1]?.body, 'meta', 'current_page')).toBe(2);
			const all = new Set(replies.flatMap(({ body }) => hashes(body)));
			expect([...all]).toEqual(everything());
		},
	);

	test('by answering page 1 whatever is asked', async () => {
		const replies = await pages('ignoresPage', 3);
		expect(hashes(replies[2]?.body)).toEqual(everything().slice(0, 10));
		expect(at(replies[2]?.body, 'meta', 'current_page')).toBe(1);
	});

	test('by never ending, with known products or new ones', async () => {
		const known = await pages('neverEnding', 7);
		expect(numbers(known[6])).toBe(8);
		expect(hashes(known[6]?.body)).toEqual(everything().slice(10, 20));
		const fresh = await pages('neverEnding', 7, true);
		expect(new Set(fresh.flatMap(({ body }) => hashes(body))).size).toBe(70);
	});

	test('by shrinking while it is read', async () => {
		const replies = await pages('shrinking', 3);
		expect(replies.map(numbers)).toEqual([5, 2, 3]);
	});
});
