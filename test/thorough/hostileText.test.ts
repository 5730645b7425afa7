import set from 'lodash/set';
import type { IDataObject, INodeParameters, INodeProperties } from 'n8n-workflow';
import { everyOperation, sampleOf } from '../helpers/samples';
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
/** A pattern that takes quadratic time takes minutes for such a text, and a test may take one. */
const LONG = 4_000_000;
const MOST_MS = 60_000;
/** A longer notice is not read. */
const LONGEST_NOTICE = 200_000;

/** Just short enough for a form. */
const SHORT = Object.values(HOSTILE).map((make) => make(LONGEST_TEXT - 100));
/** All of them in one text. */
function longText(length: number): string {
	const makers = Object.values(HOSTILE);
	return makers.map((make) => make(length / makers.length)).join('');
}

describe('Text that is made to block n8n', () => {
	jest.setTimeout(MOST_MS);
	const inbox = useInbox();

	/** Runs the task with texts that a form accepts, and with a long one. */
	const expectEnd = async (
		task: (hostile: string[]) => Promise<unknown>,
		longest = LONG,
	): Promise<void> => {
		await task(SHORT);
		await task([longText(longest)]);
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

		await expectEnd(async (hostile) => {
			const items = hostile.map((text) => ({ text }));
			await runNode(parameters, { credentials, items, continueOnFail: true });
		});
	});

	const trigger = writable(new DigitalSalesTrigger().description.properties);

	test.each(trigger.map((one) => [one.path, one] as const))(
		'is refused or processed at once in the trigger: %s',
		async (_name, field) => {
			await expectEnd(async (hostile) => {
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

		await expectEnd(post, LONGEST_NOTICE);
		await expectEnd(post);
	});

	test.each(['searchProducts', 'searchOffers'])('is searched for at once: %s', async (name) => {
		const { credentials } = inbox.account;

		await expectEnd(async (hostile) => {
			for (const filter of hostile) await runListSearch(name, { credentials, filter });
		});
	});

	test.each<[string, (text: string) => IDataObject]>([
		['titles', (title) => ({ title, offers: [{ hash: 'o', title, price: 1 }] })],
		['addresses', (url) => ({ sale_page: url, offers: [{ hash: 'o', url, price: 1 }] })],
	])('is processed at once in a catalog with such %s', async (_names, productOf) => {
		const { account } = inbox;

		await expectEnd(async (hostile) => {
			account.reset();
			const data = hostile.map((text) => ({ hash: 'p', ...productOf(text) }));
			account.fault('list', { kind: 'patchBody', set: { data, meta: { last_page: 1 } } }, 'always');
			await runListSearch('searchOffers', { credentials: account.credentials, filter: 'curso' });
			await runNode(
				pixParameters(account.sandbox, {
					cart: { items: [{ offerHash: 'https://example.com/a' }] },
				}),
				{ credentials: account.credentials },
			);
		});
	});

	test.each(new DigitalSalesApi().properties.map(({ name }) => name))(
		'is refused or processed at once in the credential: %s',
		async (name) => {
			const { digitalSalesApi = {} } = inbox.account.credentials;

			await expectEnd(async (hostile) => {
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
