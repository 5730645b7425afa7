import type { INodeParameters } from 'n8n-workflow';
import { processedItems, type NodeOutcome, type NodeRunOptions } from '../../helpers/engine';
import { errorOf, useShop } from '../../helpers/charging';
import { useLimits } from '../../helpers/account';

/** The most frequent errors together, to compare their wording. */
describe('The errors that a seller meets most', () => {
	const limit = useLimits();
	const shop = useShop();

	const charge = async (more: INodeParameters = {}, options?: NodeRunOptions) =>
		await shop.run(shop.parameters(undefined, more), options);
	const answered =
		(status: number, body: unknown = {}) =>
		async () => {
			shop.account.fault('charge', { kind: 'status', status, body }, 'always');
			limit({ maxTries: 1, maxTotalMs: 0 });
			return await charge();
		};
	const cartWith = (price: string): INodeParameters => {
		const offerHash = shop.account.sandbox.products[0]?.offers[0]?.hash;
		return { cart: { items: [{ offerHash, price, more: { title: 'Curso' } }] } };
	};
	const known = (text: string): string =>
		text
			.replaceAll(shop.hashes[0] ?? '-', 'HASH')
			.replace(/\d\d\/\d\d\/\d{4}, \d\d:\d\d \(Brasília time\)/g, 'TIME');

	/** The texts that an error quotes, and the numbered cases of a charge in doubt. */
	const FACT =
		/^(\d\. |The platform said: |An attempt on |The existing |Details: |Reason: |Request: |A new execution may |Already created )/;
	const CART = 'cart 2 x Curso de Fotografia; amount R$ 39,80; customer document ending in 4725';
	const CASES = [
		'Look for it on your platform in a few minutes.',
		'1. It is there: Options > Charges in Doubt > Add Decision, Order or Customer 52998224725, Hash: its hash; then run this again.',
		'2. It is there, but shows no hash: do not charge again; send that PIX from your platform, or ask it for the hash.',
		'3. It is not there, or it failed or expired: the same decision with an empty Hash; then run this again.',
	];
	const REQUEST = 'Request: POST /transactions';
	const EMPTY_CART = ['Cart is empty', 'This item was not sent.', 'Add an item to Cart.'];

	test.each<[string, () => Promise<NodeOutcome>, string[]]>([
		[
			'a wrong token',
			answered(401),
			[
				'The platform does not accept the API token (401)',
				'Copy API Token, and Second API Token if it is filled, again from your platform to the credential, without spaces. If this continues, ask the platform for the permission.',
				`${REQUEST}.`,
			],
		],
		[
			'a wrong Base URL, or an offer that is gone',
			answered(404),
			[
				'The platform found nothing for this charge (404)',
				'Check the offers in Cart. If every operation fails like this, check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
				`${REQUEST}.`,
			],
		],
		[
			'a hash that the platform does not know',
			async () =>
				await shop.run({ resource: 'transaction', operation: 'get', transactionHash: 'nosuch' }),
			[
				'The platform found no transaction with this hash (404)',
				'The platform said: Transaction not found.',
				'Check the hash. If every operation fails like this, check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
				'Request: GET /transactions/{hash}.',
			],
		],
		[
			'no network',
			async () => {
				const baseUrl = 'http://127.0.0.1:9/v1';
				return await charge({}, { credentials: shop.account.credentialsWith({ baseUrl }) });
			},
			[
				'The platform could not be reached',
				'This item was not sent.',
				'Check the host in Base URL of the credential, and that this n8n can reach it, through its proxy if it has one.',
				`${REQUEST}, tried 5 times, ECONNREFUSED.`,
			],
		],
		[
			'no API under this path',
			answered(405, { message: 'The POST method is not supported for this route.' }),
			[
				'The platform did not accept the request (405)',
				'The platform said: The POST method is not supported for this route.',
				'Check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
				`${REQUEST}.`,
			],
		],
		[
			'a field that the platform refuses',
			answered(422, { errors: { 'customer.phone_number': ['is not a phone'] } }),
			[
				'The platform did not accept the request (422)',
				'The platform said: Customer Phone (customer.phone_number): is not a phone.',
				'Correct what the platform rejected, then run this again.',
				`${REQUEST}.`,
			],
		],
		[
			'the rate limit',
			answered(429),
			[
				'The platform is still limiting requests (429)',
				'Wait a while, then run this again, or run fewer workflows of this account at the same time.',
				`${REQUEST}.`,
			],
		],
		[
			'no usable answer',
			answered(500),
			[
				'The customer may already have been charged: the platform returned an error (500)',
				`Details: ${CART}.`,
				...CASES,
				`${REQUEST}.`,
			],
		],
		[
			'the same, asked again',
			async () => {
				shop.fault('loseAnswer');
				await charge();
				return await charge();
			},
			[
				'The customer may already have been charged, so this item was not sent',
				`An attempt on TIME got no usable answer. Details: ${CART}.`,
				...CASES,
				'4. It is there, but for another order: decide for that order, and run it again first.',
			],
		],
		[
			'another charge in a Retry',
			async () => {
				shop.fault('refuse', 1);
				const customerDocument = '={{ $itemIndex ? "111.444.777-35" : "529.982.247-25" }}';
				const first = await charge({ customerDocument }, { items: [{}, {}] });
				const more = { customerDocument, ...cartWith('50') };
				return await shop.retry(shop.parameters(undefined, more), first);
			},
			[
				'This item already has its charge, so the changed charge was not sent',
				`The existing charge is HASH (${CART}). Asked for now: cart 1 x Curso; amount R$ 50,00; customer document ending in 4725.`,
				'To keep it, set the form back to what it was; to replace it, cancel it on your platform, then use Retry again; to send the changed charge as well, start a new execution with this item alone.',
				'A new execution would create again the successful items that had no Order Reference, so use Retry under Executions, which sends the items as they were, or remove those items from the input.',
				'Already created in this execution: item 0 is HASH.',
			],
		],
		[
			'a hundredfold price',
			async () => {
				await shop.run({ resource: 'product', operation: 'getAll', limit: 1 });
				const { price = 0 } = shop.account.sandbox.products[0]?.offers[0] ?? {};
				return await charge(cartWith(String(price)));
			},
			[
				'Cart > Item 1 > Price in Reais is R$ 115,00, but the catalog last said R$ 1,15',
				'This item was not sent.',
				'Enter 1,15, or add Options > Allow Price Mismatch if R$ 115,00 is right.',
			],
		],
		[
			'an ambiguous amount',
			async () => await charge(cartWith('1.990')),
			[
				'Cart > Item 1 > Price in Reais is ambiguous: write 1990,00 or 1,99, not "1.990"',
				'This item was not sent.',
			],
		],
		[
			'a CPF with a wrong digit',
			async () => await charge({ customerDocument: '529.982.247-26' }),
			['Customer CPF or CNPJ is not a valid CPF: check its digits', 'This item was not sent.'],
		],
		[
			'no trigger',
			async () => await charge({ webhooksGoTo: 'trigger' }),
			[
				'Webhooks Go To is set to Trigger of This Workflow, but this workflow has no published Digital Sales Trigger with the credential of this node',
				'This item was not sent.',
				'Publish the workflow with such a trigger, or change Webhooks Go To.',
			],
		],
		['an empty cart', async () => await charge({ cart: {} }), EMPTY_CART],
		[
			'a reference that was used before',
			async () => {
				await charge({ orderReference: 'order-1' });
				return await charge({ orderReference: 'order-1', ...cartWith('50') });
			},
			[
				'Order Reference "order-1" already belongs to a charge with another customer, cart or amount, so this item was not sent',
				`The existing charge is HASH (${CART}). Asked for now: cart 1 x Curso; amount R$ 50,00; customer document ending in 4725.`,
				'Another order needs its own reference: change it for this item only. If it is the same order with corrected data, cancel its earlier charge on your platform first.',
			],
		],
		[
			"a failure of n8n's database",
			async () => {
				processedItems.failingWrites = 100;
				return await charge().finally(() => (processedItems.failingWrites = 0));
			},
			[
				'n8n could not record the charge, so it was not sent',
				'This item was not sent.',
				'Reason: SQLITE_FULL: database or disk is full.',
				'Check the database of n8n, then run this again.',
			],
		],
	])('%s', async (_name, run, lines) => {
		const [message = '', ...others] = known(errorOf(await run())).split('\n');

		expect([message, ...others]).toEqual(lines);
		expect(message).toMatch(/^(The|n8n|[A-Z][\w >]+) [^!?]+[^.!?]$/);
		const told = others.filter((line) => !FACT.test(line)).join(' ');
		expect(told.split(/(?<=\.) (?=[A-Z])/).length).toBeLessThanOrEqual(2);
		expect(told).not.toMatch(/\b(please|we|our|sorry)\b/i);
	});
});
