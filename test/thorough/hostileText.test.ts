import set from 'lodash/set';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { everyOperation, sampleOf } from '../helpers/samples';
import { LONGEST_TEXT } from '../../nodes/DigitalSales/domain/text';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesApi } from '../../credentials/DigitalSalesApi.credentials';
import { DigitalSalesTrigger } from '../../nodes/DigitalSales/DigitalSalesTrigger.node';
import { runCredentialTest, runListSearch, runNode } from '../helpers/engine';
import { everyProperty, type FormField } from '../helpers/forms';
import { useInbox } from '../helpers/inbox';

/** Each takes some pattern or sort at least quadratic time. */
const HOSTILE: Array<(length: number) => string> = [
	(length) => 'a' + '\u0316\u0301'.repeat(length / 2),
	(length) => `a@${'.'.repeat(length)}@`,
	(length) => `https://example.com${'/'.repeat(length)}x`,
	(length) => `R$ 1${' '.repeat(length)}x`,
	(length) => '1.111'.repeat(length / 5) + 'x',
	(length) => 'a' + '\u200b'.repeat(length) + 'a',
	(length) => '%2541&#38;#65;\\u0041'.repeat(length / 20),
	(length) => '{"a":['.repeat(length / 6),
	(length) => '\\'.repeat(length),
];
/** Just short enough for a form, and two of a megabyte that no form accepts. */
const TEXTS = [
	...HOSTILE.map((make) => make(LONGEST_TEXT - 100)),
	...[HOSTILE.map((make) => make(100_000)).join(''), '1'.repeat(1_000_000)],
];
/** What is sent for a text, with the whole of it once. */
const LONGEST = 4 * LONGEST_TEXT;

/** The lint rule for patterns shows that none takes long. */
describe('Text that is made to block n8n', () => {
	const inbox = useInbox();

	/** Fails if more of a text than a form accepts is sent to the platform, or told. */
	const expectShort = async (use: (text: string) => Promise<unknown>): Promise<void> => {
		for (const text of TEXTS) {
			inbox.account.reset();
			const told = await use(text);
			expect(JSON.stringify(inbox.account.sandbox.requests).length).toBeLessThan(LONGEST);
			expect(JSON.stringify(told ?? '').length).toBeLessThan(LONGEST);
		}
	};

	const action = new DigitalSales().description.properties;
	const fields = everyOperation().flatMap(({ resource, value: operation, label }) => {
		const properties = action.filter(
			({ displayOptions: { show } = {} }) =>
				show?.resource?.includes(resource) && show.operation?.includes(operation),
		);
		const name = `${resource}/${operation}`;
		return writable(properties).map((one) => [`${label}: ${one.path}`, { ...one, name }] as const);
	});

	test.each(fields)('is refused or processed at once in %s', async (_name, field) => {
		const { credentials, sandbox } = inbox.account;
		const sample = sampleOf(field.name, sandbox, { transactionHash: 'ab12' });
		const parameters = filledIn(sample, field, '={{ $json.text }}');

		await expectShort(async (text) => {
			const { node } = await runNode(parameters, { credentials, items: [{ text }] });
			return [node?.error?.message, node?.error?.description, node?.hints];
		});
	});

	const trigger = writable(new DigitalSalesTrigger().description.properties);

	test.each(trigger.map((one) => [one.path, one] as const))(
		'is refused or processed at once in the trigger: %s',
		async (_name, field) => {
			await expectShort(async (text) => {
				const parameters = filledIn({ triggerOn: ['any'] }, field, text);
				const publishing = inbox.publish(parameters);
				const { problem } = await publishing.then(
					async (published) => await published.post({ hash: 'ab12' }).then(() => ({ problem: '' })),
					(error: unknown) => ({ problem: String(error) }),
				);
				return problem;
			});
		},
	);

	const CLAIMS = [
		...['hash', 'transaction_hash', 'payment_status', 'status', 'payment_method', 'amount'],
		...['transaction.hash', 'transaction.id', 'transaction.status', 'product.hash', 'offer.hash'],
		...['customer.name', 'data.hash', 'token'],
	];

	test.each(CLAIMS)('is refused or processed at once in a notice: %s', async (name) => {
		await inbox.publish({ triggerOn: ['other'], otherStatuses: 'analyzing' });

		await expectShort(async (text) => {
			const { status } = await inbox.trigger.post(set({ hash: 'ab12' }, name, text));
			expect([200, 400, 404, 413, 503]).toContain(status);
		});
	});

	test.each(['searchProducts', 'searchOffers'])('is searched for at once: %s', async (name) => {
		const { credentials } = inbox.account;

		await expectShort(async (filter) => {
			return await runListSearch(name, { credentials, filter }).catch(String);
		});
	});

	test.each(new DigitalSalesApi().properties.map(({ name }) => name))(
		'is refused or processed at once in the credential: %s',
		async (name) => {
			const { digitalSalesApi = {} } = inbox.account.credentials;

			await expectShort(
				async (text) => await runCredentialTest({ ...digitalSalesApi, [name]: text }),
			);
		},
	);
});

interface Writable {
	path: string;
	/** The fields around it, the outermost first, and itself. */
	chain: FormField[];
}

/** The fields that a person or an expression fills in. */
function writable(properties: INodeProperties[]): Writable[] {
	const all = everyProperty(properties);
	return all
		.filter(({ property: { type } }) => !['notice', 'collection', 'fixedCollection'].includes(type))
		.map(({ path }) => ({
			path,
			chain: all.filter((outer) => path === outer.path || path.startsWith(`${outer.path}.`)),
		}));
}

/** The parameters with one field filled in, and those that must be as they are for it to be shown. */
function filledIn(
	base: INodeParameters,
	{ path, chain }: Writable,
	value: string,
): INodeParameters {
	const parameters = structuredClone(base);
	const keys = path.split('.');
	const listed = chain.find(({ property }) => property.typeOptions?.multipleValues);
	// A list stands under its own name and that of its group.
	if (listed) keys.splice(listed.path.split('.').length + 1, 0, '0');
	const within = keys.slice(0, -1);
	for (const { property } of chain) {
		const { show = {} } = property.displayOptions ?? {};
		for (const [name, [wanted] = []] of Object.entries(show)) {
			if (name === 'resource' || name === 'operation') continue;
			set(parameters, name.startsWith('/') ? name.slice(1) : [...within, name], wanted);
		}
	}
	return set(parameters, keys, value);
}
