import type { INodeParameters } from 'n8n-workflow';
import type { NodeOutcome, NodeRunOptions } from '../../helpers/engine';
import { errorOf, RETRY_ON_FAIL, otherProcess, useShop } from '../../helpers/charging';

const OWN = { title: '={{ "Offer " + $itemIndex }}' };

describe('Offer > Create, requested again', () => {
	const shop = useShop();

	const parameters = (more: INodeParameters = {}): INodeParameters => ({
		resource: 'offer',
		operation: 'create',
		productHash: shop.account.sandbox.products[0]?.hash ?? '',
		title: 'Black Friday',
		price: '19,90',
		...more,
	});
	const run = async (more?: INodeParameters, options?: NodeRunOptions): Promise<NodeOutcome> =>
		await shop.run(parameters(more), options);
	const retry = async (of: NodeOutcome, more?: INodeParameters, options?: NodeRunOptions) =>
		await shop.retry(parameters(more), of, options);
	const offers = (): number => shop.account.sandbox.offers.length;
	const hashes = () => shop.account.sandbox.offers.map(({ offer }) => offer.hash);
	const refuseSecond = () => shop.account.fault('offer', { kind: 'status', status: 422, after: 1 });
	const lose = () => shop.account.fault('offer', { kind: 'resetAfterProcessing' });

	test('Retry On Fail creates each offer once, and returns what the first try created', async () => {
		refuseSecond();
		const { json, status, hints } = await run(OWN, { settings: RETRY_ON_FAIL, items: [{}, {}] });

		expect(status).toBe('success');
		expect(json.map(({ hash }) => hash)).toEqual(hashes());
		expect(json[0]).toMatchObject({ title: 'Offer 0', price_reais: 19.9 });
		expect(JSON.stringify(hints)).toContain(': The offer was already created.');
	});

	test.each([
		[
			'however the accents of its title are encoded',
			{ title: 'Promoção'.normalize('NFC') },
			{ title: 'Promoção'.normalize('NFD') },
		],
		[
			'in whatever order its Custom Fields are',
			{ additionalFields: { customFields: { installments: 3, internal_note: 'spring' } } },
			{ additionalFields: { customFields: { internal_note: 'spring', installments: 3 } } },
		],
	])('the Retry of an offer in doubt is refused %s', async (_how, offer, same) => {
		lose();
		const first = await run(offer);
		const again = await retry(first, same, otherProcess());

		expect(errorOf(again)).toContain('may already exist');
		expect(offers()).toBe(1);
	});

	test('the Retry of an execution returns existing offers, even after a restart', async () => {
		refuseSecond();
		const first = await run(OWN, { items: [{}, {}] });
		const { json } = await retry(first, OWN, otherProcess());

		expect(json.map(({ hash }) => hash)).toEqual(hashes());
		expect(offers()).toBe(2);
	});

	test('the Retry of an execution with equal offers returns the one offer to each, even after a restart', async () => {
		const titles = { title: '={{ $itemIndex < 2 ? "Equal" : "Other" }}' };
		refuseSecond();
		const first = await run(titles, { items: [{}, {}, {}] });
		const { json } = await retry(first, titles, otherProcess());
		const [equal, other] = hashes();

		expect(json.map(({ hash }) => hash)).toEqual([equal, equal, other]);
		expect(offers()).toBe(2);
	});

	test('a Retry with a changed offer is refused if the offer exists', async () => {
		refuseSecond();
		const first = await run(OWN, { items: [{}, {}] });
		const changed = await retry(first, { ...OWN, price: '29,90' });

		expect(changed.node?.error?.message).toBe(
			'This item already has its offer, so the changed offer was not sent',
		);
		expect(errorOf(changed)).toContain(`The existing offer is ${hashes()[0]} (`);
		expect(offers()).toBe(1);
	});

	test('an offer that may exist is refused in its Retry, and created in a new execution, as the error says', async () => {
		lose();
		const first = await run({}, { settings: RETRY_ON_FAIL });
		const second = await retry(first, {}, otherProcess());

		for (const one of [first, second]) {
			expect(one.node?.error?.message).toBe(
				'The offer may already exist, so this item was not sent',
			);
			expect(errorOf(one)).toContain('1. It is there: continue without this item.');
			expect(errorOf(one)).toContain('2. It is not there: create it in a new execution');
			expect(errorOf(one)).not.toMatch(/hash|customer/);
		}
		expect(offers()).toBe(1);
		expect((await run()).status).toBe('success');
		expect(offers()).toBe(2);
	});

	test('equal offers of an execution are one offer', async () => {
		const { json } = await run({}, { items: [{}, {}] });

		expect(json.map(({ hash }) => hash)).toEqual([hashes()[0], hashes()[0]]);
	});
});
