import memoize from 'lodash/memoize';
import set from 'lodash/set';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { everyOperation, sampleOf } from '../helpers/samples';
import { findSlowSearches } from '../helpers/slowSearches';
import { LONGEST_TEXT } from '../../nodes/DigitalSales/domain/text';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesApi } from '../../credentials/DigitalSalesApi.credentials';
import { DigitalSalesTrigger } from '../../nodes/DigitalSales/DigitalSalesTrigger.node';
import { runCredentialTest, runListSearch, runNode } from '../helpers/engine';
import { pixParameters } from '../helpers/account';
import { everyProperty, type FormField } from '../helpers/forms';
import { useInbox } from '../helpers/inbox';

/** Each text makes some pattern or sort take at least quadratic time. */
const HOSTILE: Record<string, (length: number) => string> = {
	'combining marks': (length) => 'a' + '\u0316\u0301'.repeat(length / 2),
	'an e-mail with dots': (length) => `a@${'.'.repeat(length)}@`,
	'an address with slashes': (length) => `https://example.com${'/'.repeat(length)}x`,
	'blanks with something behind them': (length) => `R$ 1${' '.repeat(length)}x`,
	'digits in groups': (length) => '1.111'.repeat(length / 5) + 'x',
	'invisible characters': (length) => 'a' + '\u200b'.repeat(length) + 'a',
	'escapes of escapes': (length) => '%2541&#38;#65;\\u0041'.repeat(length / 20),
	brackets: (length) => '{"a":['.repeat(length / 6),
	backslashes: (length) => '\\'.repeat(length),
	digits: (length) => '1'.repeat(length),
};
const MEGABYTE = 1_000_000;
/** A notice of a megabyte is not read. */
const LONGEST_NOTICE = 200_000;

/** Just short enough for a form. */
const SHORT = Object.values(HOSTILE).map((make) => make(LONGEST_TEXT - 100));
/** All of them in one text. */
const longTexts = memoize((length: number): string => {
	const makers = Object.values(HOSTILE);
	return makers.map((make) => make(length / makers.length)).join('');
});

describe('Text that is made to block n8n', () => {
	const inbox = useInbox();

	/** Fails if a pattern searches a longer text than a form accepts. */
	const expectShortSearches = async (
		task: (hostile: string[]) => Promise<unknown>,
		longest = MEGABYTE,
		allowed: string[] = [],
	): Promise<void> => {
		const long = longTexts(longest);
		const patterns = await findSlowSearches(LONGEST_TEXT, async () => await task([long]));
		// Other tests cover the answers of the platform (unit/api/response and redact).
		const ofForms = patterns.filter((pattern) => !pattern.startsWith('nodes/DigitalSales/api/'));
		expect(ofForms).toEqual(allowed);
	};

	/** Also fails if a text that a form accepts takes too long. */
	const expectBounded = async (
		task: (hostile: string[]) => Promise<unknown>,
		{ longest = MEGABYTE, allowed = [] as string[] } = {},
	): Promise<void> => {
		await task(SHORT);
		await expectShortSearches(task, longest, allowed);
	};

	const action = new DigitalSales().description.properties;
	const fields = everyOperation().flatMap(({ resource, value: operation, label }) => {
		const properties = action.filter(
			({ displayOptions: { show } = {} }) =>
				show?.resource?.includes(resource) && show.operation?.includes(operation),
		);
		return writable(properties).map(
			(one) => [`${label}: ${one.path}`, { ...one, resource, operation }] as const,
		);
	});

	test.each(fields)('is refused or processed at once in %s', async (_name, field) => {
		const { resource, operation } = field;
		const { credentials, sandbox } = inbox.account;
		const sample = sampleOf(`${resource}/${operation}`, sandbox, { transactionHash: 'ab12' });
		const parameters = filledIn(sample, field, '={{ $json.text }}');

		await expectBounded(async (hostile) => {
			const items = hostile.map((text) => ({ text }));
			await runNode(parameters, { credentials, items, continueOnFail: true });
		});
	});

	const trigger = writable(new DigitalSalesTrigger().description.properties);

	test.each(trigger.map((one) => [one.path, one] as const))(
		'is refused or processed at once in the trigger: %s',
		async (_name, field) => {
			await expectBounded(async (hostile) => {
				for (const text of hostile) {
					const parameters = filledIn({ triggerOn: ['any'] }, field, text);
					await inbox.publish(parameters).then(
						async (published) => await published.post({ hash: 'ab12' }),
						() => undefined,
					);
				}
			});
		},
	);

	const CLAIMS = [
		...['hash', 'transaction_hash', 'payment_status', 'status', 'payment_method', 'amount'],
		...['transaction.hash', 'transaction.id', 'transaction.status', 'product.hash', 'offer.hash'],
		...['customer.name', 'data.hash', 'token'],
	];

	test.each(CLAIMS)('is refused or processed at once in a notice: %s', async (name) => {
		await inbox.publish({
			triggerOn: ['other'],
			otherStatuses: 'analyzing',
			products: { items: [{ product: 'prod1' }] },
			filters: { minimumAmount: '1,00', paymentMethods: ['pix'] },
		});

		const post = async (hostile: string[]): Promise<void> => {
			for (const text of hostile) {
				const { status } = await inbox.trigger.post(set({ hash: 'ab12' }, name, text));
				expect([200, 400, 404, 413, 503]).toContain(status);
			}
		};

		await expectBounded(post, { longest: LONGEST_NOTICE });
		await expectShortSearches(post);
	});

	test.each(['searchProducts', 'searchOffers'])('is searched for at once: %s', async (name) => {
		const { credentials } = inbox.account;

		await expectBounded(async (hostile) => {
			for (const filter of hostile) await runListSearch(name, { credentials, filter });
		});
	});

	test('is processed at once in a catalog that contains it', async () => {
		const { account } = inbox;

		const task = async (hostile: string[]): Promise<void> => {
			account.reset();
			const data = hostile.map((title) => ({
				...{ hash: 'p', title, sale_page: title },
				offers: [{ hash: 'o', title, url: title, price: 1 }],
			}));
			account.fault('list', { kind: 'patchBody', set: { data, meta: { last_page: 1 } } }, 'always');
			await runListSearch('searchOffers', { credentials: account.credentials, filter: 'curso' });
			await runNode(
				pixParameters(account.sandbox, {
					cart: { items: [{ offerHash: 'https://example.com/a' }] },
				}),
				{ credentials: account.credentials },
			);
		};

		// Each passes over a text in one step for each character.
		const allowed = [String.raw`[\u0300-\u036f]`, String.raw`\p{M}{30}(?=\p{M})`].map(
			(pattern) => `nodes/DigitalSales/domain/text: ${pattern}`,
		);
		await expectBounded(task, { allowed });
	});

	test.each(new DigitalSalesApi().properties.map(({ name }) => name))(
		'is refused or processed at once in the credential: %s',
		async (name) => {
			const { digitalSalesApi = {} } = inbox.account.credentials;

			await expectBounded(async (hostile) => {
				for (const text of hostile) await runCredentialTest({ ...digitalSalesApi, [name]: text });
			});
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
