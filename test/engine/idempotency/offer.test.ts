import type { INodeParameters } from 'n8n-workflow';
import type { NodeOutcome, NodeRunOptions } from '../../helpers/engine';
import { codeIn, errorOf, RETRY_ON_FAIL, otherProcess, useShop } from '../../helpers/charging';

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
		const { json, status, hints } = await run({}, { settings: RETRY_ON_FAIL, items: [{}, {}] });

		expect(status).toBe('success');
		expect(json.map(({ hash }) => hash)).toEqual(hashes());
		expect(json[0]).toMatchObject({ title: 'Black Friday', price_reais: 19.9 });
		expect(JSON.stringify(hints)).toContain('The offer was already created. Returning offer');
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
	])('an offer in doubt is recognised %s', async (_how, offer, same) => {
		lose();
		await run(offer);
		const again = await run(same);

		expect(errorOf(again)).toContain('may already exist');
		expect(offers()).toBe(1);
	});

	test('if the second of two offers is in doubt, the first is not created either, even after a restart', async () => {
		const title = '={{ $json.title }}';
		const [spring, summer] = [{ title: 'Spring' }, { title: 'Summer' }];
		lose();
		await run({ title }, { items: [summer] });
		const again = await run({ title }, { items: [spring, summer], ...otherProcess() });

		expect(errorOf(again)).toContain('The offer may already exist');
		expect(again.node?.error?.context?.itemIndex).toBe(1);
		expect(offers()).toBe(1);
	});

	test('the Retry of an execution returns existing offers, even after a restart', async () => {
		refuseSecond();
		const first = await run({}, { items: [{}, {}] });
		const { json } = await retry(first, {}, otherProcess());

		expect(json.map(({ hash }) => hash)).toEqual(hashes());
		expect(offers()).toBe(2);
	});

	test('a Retry with a changed offer is refused if the offer exists', async () => {
		refuseSecond();
		const first = await run({}, { items: [{}, {}] });
		const changed = await retry(first, { price: '29,90' });

		expect(changed.node?.error?.message).toBe(
			'The offer already exists, so the changed offer was not sent',
		);
		expect(errorOf(changed)).toContain(`The existing offer is ${hashes()[0]} (`);
		expect(offers()).toBe(1);
	});

	test('the Retry with another token creates nothing, since an offer cannot be read back', async () => {
		refuseSecond();
		const first = await run({}, { items: [{}, {}] });
		const credentials = shop.account.credentialsElsewhere();
		const refused = await retry(first, {}, { credentials });

		expect(refused.node?.error?.message).toBe(
			'The offer was already created with another token or Base URL, so this item was not sent',
		);
		expect(offers()).toBe(1);
	});

	test('an offer that may exist is refused until its code is entered, while another offer is created', async () => {
		lose();
		const first = await run({}, { settings: RETRY_ON_FAIL });
		const second = await run({}, otherProcess());

		expect([first, second].map((one) => one.node?.error?.message)).toEqual([
			'The offer may already exist, so nothing was sent',
			'The offer may already exist, so nothing was sent',
		]);
		expect(offers()).toBe(1);
		expect((await run({ title: 'Another offer' })).status).toBe('success');
		expect((await run({ options: { repeatCode: codeIn(second) } })).status).toBe('success');
		expect(offers()).toBe(3);
	});

	test('an offer that may exist is refused with advice for an offer, also if its code does not hold', async () => {
		lose();
		await run();
		const refused = errorOf(await run({ options: { repeatCode: '2345-6789' } }));

		expect(refused).toContain('No code that was entered ends this doubt.');
		expect(refused).toContain('If it is there, leave this item out.');
		expect(refused).not.toMatch(/hash|customer|Order Reference/);
	});
});
