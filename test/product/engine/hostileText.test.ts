import set from 'lodash/set';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { everyOperation, sampleOf } from '../../support/samples';
import { LONGEST_TEXT } from '../../../nodes/DigitalSales/domain/text';
import { DigitalSales } from '../../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesApi } from '../../../credentials/DigitalSalesApi.credentials';
import { DigitalSalesTrigger } from '../../../nodes/DigitalSales/DigitalSalesTrigger.node';
import { runCredentialTest, runListSearch, runNode } from './harness';
import { pixParameters } from './support/account';
import { everyProperty, type FormField } from './support/form';
import { useInbox } from './support/inbox';

/** Each makes some pattern or sort take time by the square of its length, or more. */
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
/**
 * A form takes hardly a longer text than the first one. The next ends in seconds, not in hours, if
 * something takes time by the square of the length.
 */
const LENGTHS = [LONGEST_TEXT - 100, 60_000, 1_000_000];
/** The first two are those of notices that are read. */
const LENGTHS_OF_NOTICES = [60_000, 200_000, 1_000_000];
/** Of one processor, more than a harmless text of that length takes. */
const MOST_CPU_MS = 100;
const TRIES = 3;

describe('Text that is made to stop n8n', () => {
	const inbox = useInbox();

	/** A megabyte holds all of them. */
	const texts = (length: number): string[] => {
		const makers = Object.values(HOSTILE);
		if (length < 1_000_000) return makers.map((make) => make(length));
		return [makers.map((make) => make(length / makers.length)).join('')];
	};
	const cpuOf = async (task: (texts: string[]) => Promise<unknown>, hostile: string[]) => {
		const before = process.cpuUsage();
		await task(hostile);
		const { user, system } = process.cpuUsage(before);
		return (user + system) / 1_000;
	};
	/** Fails if one of the texts takes long; most often all of them together do not. */
	const expectQuick = async (
		task: (hostile: string[]) => Promise<unknown>,
		lengths = LENGTHS,
	): Promise<void> => {
		for (const length of lengths) {
			const hostile = texts(length);
			const together = await cpuOf(task, hostile);
			if (together < MOST_CPU_MS) continue;
			const harmless = hostile.map(() => 'a'.repeat(length));
			if (together - (await cpuOf(task, harmless)) < MOST_CPU_MS) continue;
			for (const text of hostile) {
				const more: number[] = [];
				// The collection of garbage may fall into one.
				while (more.length < TRIES && !more.some((one) => one < MOST_CPU_MS)) {
					const usual = await cpuOf(task, harmless.slice(0, 1));
					more.push((await cpuOf(task, [text])) - usual);
				}
				expect(Math.min(...more)).toBeLessThan(MOST_CPU_MS);
			}
		}
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

	test.each(fields)('is refused or used at once in %s', async (_name, field) => {
		const { resource, operation } = field;
		const { credentials, sandbox } = inbox.account;
		const sample = sampleOf(`${resource}/${operation}`, sandbox, { transactionHash: 'ab12' });
		const parameters = filledIn(sample, field, '={{ $json.text }}');

		await expectQuick(async (hostile) => {
			const items = hostile.map((text) => ({ text }));
			await runNode(parameters, { credentials, items, continueOnFail: true });
		});
	});

	const trigger = writable(new DigitalSalesTrigger().description.properties);

	test.each(trigger.map((one) => [one.path, one] as const))(
		'is refused or used at once in the trigger: %s',
		async (_name, field) => {
			await expectQuick(async (hostile) => {
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

	test.each(CLAIMS)('is refused or used at once in a notice: %s', async (name) => {
		await inbox.publish({
			triggerOn: ['other'],
			otherStatuses: 'analyzing',
			products: { items: [{ product: 'prod1' }] },
			filters: { minimumAmount: '1,00', paymentMethods: ['pix'] },
		});

		await expectQuick(async (hostile) => {
			for (const text of hostile) {
				const { status } = await inbox.trigger.post(set({ hash: 'ab12' }, name, text));
				expect([200, 400, 404, 413, 503]).toContain(status);
			}
		}, LENGTHS_OF_NOTICES);
	});

	test.each(['searchProducts', 'searchOffers'])('is searched for at once: %s', async (name) => {
		const { credentials } = inbox.account;

		await expectQuick(async (hostile) => {
			for (const filter of hostile) await runListSearch(name, { credentials, filter });
		});
	});

	test('is searched at once in a catalog that holds it', async () => {
		const { account } = inbox;

		await expectQuick(async (hostile) => {
			account.reset();
			const data = hostile
				.map((text) => text.slice(0, 100_000))
				.map((title) => ({
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
		});
	});

	test.each(new DigitalSalesApi().properties.map(({ name }) => name))(
		'is refused or used at once in the credential: %s',
		async (name) => {
			const { digitalSalesApi = {} } = inbox.account.credentials;

			await expectQuick(async (hostile) => {
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
