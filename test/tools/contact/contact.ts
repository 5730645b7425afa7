import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { IDataObject } from 'n8n-workflow';
import { createRedactor } from '../../../nodes/DigitalSales/api/redact';
import { readProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { hashSegment, isUsableHash } from '../../../nodes/DigitalSales/domain/hash';
import { parseBaseUrl, parseWebAddress } from '../../../nodes/DigitalSales/domain/webAddress';
import { readNotice } from '../../../nodes/DigitalSales/notice/parse';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { listen, type Listener } from './listen';
import { Report } from './report';
import { type Answer, Service } from './service';

export interface Outside {
	args: string[];
	environment: Record<string, string | undefined>;
	say: (text: string) => void;
	sleep: (ms: number) => Promise<void>;
	/** Begins when --listen waits, and ends the waiting. */
	enough: () => AbortSignal;
}

const USAGE = `Usage: npm run contact -- [options]
  --hash <hash>            a transaction to read; may be repeated
  --charge                 sends one PIX charge, at the lowest price in the catalog
  --offer <product hash>   creates one offer of this product
  --listen <port>          waits for one webhook at 127.0.0.1
  --notify <url>           where the charge sends its webhooks: the public URL of your tunnel
DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN are read from the environment;
DIGITAL_SALES_SECOND_TOKEN and DIGITAL_SALES_CUSTOMER (JSON: name, email, phone_number, document)
are for --charge.`;

/** Who is charged; a service that looks a CPF up needs a real one. */
const EXAMPLE_CUSTOMER = {
	name: 'Maria Exemplo',
	email: 'maria@example.com',
	phone_number: '11900000000',
	document: '52998224725',
};
/** As many as the package asks for. */
const LARGE_PAGE = 250;
const OFFER_PRICE_CENTS = 1_000;

/** Why there is no report: one sentence, which holds nothing of what was typed. */
class Refusal extends Error {}

/**
 * Asks the real service what its document leaves open, and says what it answers: the shapes, never
 * the values. A person reads that beside the table of docs/unknowns.md.
 *
 * @returns whether all was asked
 */
export async function contact(outside: Outside): Promise<boolean> {
	try {
		const settings = readSettings(outside);
		await meet(settings, outside);
		return true;
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		outside.say(error.message);
		return false;
	}
}

type Settings = ReturnType<typeof readSettings>;

function readSettings({ args, environment }: Outside) {
	const values = argumentsOf(args);
	const base = parseBaseUrl(environment.DIGITAL_SALES_BASE_URL ?? '');
	// What it holds stays out of the sentence: it may be a token.
	if ('problem' in base) {
		throw new Refusal(
			'DIGITAL_SALES_BASE_URL is empty or not a web address that ends with its path.',
		);
	}
	const token = tokenIn(environment, 'DIGITAL_SALES_TOKEN');
	if (token === undefined) throw new Refusal('DIGITAL_SALES_TOKEN is empty.');
	const { hash: hashes, offer } = values;
	if (![...hashes, ...(offer === undefined ? [] : [offer])].every(isUsableHash))
		throw new Refusal('--hash and --offer need a hash.');
	const { notify, charge } = values;
	if (notify !== undefined && !(charge && parseWebAddress(notify))) {
		throw new Refusal('--notify needs --charge, and an address with http:// or https://.');
	}
	return {
		...values,
		hashes,
		baseUrl: base.value,
		token,
		secondToken: tokenIn(environment, 'DIGITAL_SALES_SECOND_TOKEN'),
		customer: customerIn(environment.DIGITAL_SALES_CUSTOMER),
	};
}

function argumentsOf(args: string[]) {
	try {
		return parseArgs({
			args,
			options: {
				hash: { type: 'string', multiple: true, default: [] },
				charge: { type: 'boolean', default: false },
				offer: { type: 'string' },
				listen: { type: 'string' },
				notify: { type: 'string' },
			},
		}).values;
	} catch {
		throw new Refusal(USAGE);
	}
}

/** A header cannot carry other characters, and the error about it would quote the token. */
const SENDABLE = /^[\x21-\x7e]+$/;

function tokenIn(environment: Outside['environment'], name: string): string | undefined {
	const token = environment[name]?.trim() ?? '';
	if (token === '') return undefined;
	if (!SENDABLE.test(token)) throw new Refusal(`${name} has characters that no token has.`);
	return token;
}

function customerIn(text: string | undefined): object {
	if (!text) return EXAMPLE_CUSTOMER;
	try {
		const customer: unknown = JSON.parse(text);
		if (isJsonObject(customer)) return customer;
	} catch {
		// The same sentence.
	}
	throw new Refusal(
		'DIGITAL_SALES_CUSTOMER is not JSON with name, email, phone_number and document.',
	);
}

async function meet(settings: Settings, outside: Outside): Promise<void> {
	const { say, sleep, enough } = outside;
	const redact = createRedactor([settings.token, settings.secondToken]);
	const service = new Service(settings, { say, sleep });
	const report = new Report(redact, [settings.customer, ...settings.hashes, settings.offer]);
	const listener = settings.listen === undefined ? undefined : await listenAt(settings.listen);
	try {
		const products = await readCatalog(service, report);
		const hashes = new Set(settings.hashes);
		if (settings.charge) {
			const charged = await charge(service, settings, products);
			report.add('POST /transactions', charged);
			const made = readTransaction(charged.json);
			if (made) hashes.add(made.hash);
		}
		if (settings.offer !== undefined) {
			const created = await createOffer(service, settings.offer, products);
			report.add('POST /products/{hash}/offers', created);
		}
		if (listener) {
			say(`Waiting for one webhook on port ${listener.port}.`);
			const heard = await listener.first(
				({ body, text }) =>
					readNotice(body) !== undefined || [...hashes].some((hash) => text.includes(hash)),
				enough(),
			);
			report.addWebhook(heard);
			const notice = readNotice(heard.notice?.body);
			if (notice) hashes.add(notice.hash);
		}
		for (const hash of hashes) await readBothCases(service, report, hash);
		const unknown = `nosuch${randomBytes(5).toString('hex')}`;
		report.add('GET an unknown hash', await service.get(`/transactions/${unknown}`));
		report.add('GET without a token', await service.get('/transactions/nosuch', false));
	} finally {
		await listener?.close();
		// Also of what was asked before a fault: a POST stays in the account.
		say(report.text());
	}
}

async function listenAt(port: string): Promise<Listener> {
	if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) {
		const listener = await listen(Number(port)).catch(() => undefined);
		if (listener) return listener;
	}
	throw new Refusal('Nothing can listen at the port of --listen.');
}

/** Reads pages with each query parameter, and gives all products that came. */
async function readCatalog(service: Service, report: Report): Promise<IDataObject[]> {
	const first = await service.get('/products');
	const page = readProductPage(first.json);
	report.add('GET /products', first);
	// Before anything is created.
	if (!page) {
		throw new Refusal(
			'The first answer is no list of products. Check DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN.',
		);
	}
	const products = new Map(page.data.map((product) => [String(product.hash), product]));
	const [one, another] = page.data;
	if (!one) return [];
	const word = String(one.title).split(/\s/).at(-1) ?? '';
	const queries = {
		'per_page=1': { per_page: '1' },
		'page=2': { page: '2' },
		[`per_page=${LARGE_PAGE}`]: { per_page: String(LARGE_PAGE) },
		'search by a word of a title': { search: word },
		'the same without accents': { search: word.normalize('NFD').replace(/\p{M}/gu, '') },
		'status=4': { status: '4' },
		'categories: that of the first product': { categories: String(one.id_category) },
		'categories: two': { categories: `${one.id_category},${another?.id_category}` },
	};
	for (const [what, query] of Object.entries(queries)) {
		const answer = await service.get(`/products?${new URLSearchParams(query).toString()}`);
		report.addPage(what, answer, page.data);
		for (const product of readProductPage(answer.json)?.data ?? []) {
			products.set(String(product.hash), product);
		}
	}
	return [...products.values()];
}

/** Charges the cheapest active offer that was read, at its own price. */
async function charge(
	service: Service,
	{ token, secondToken, customer, notify }: Settings,
	products: IDataObject[],
): Promise<Answer> {
	const [cheapest] = products
		.filter(({ status }) => status === 1)
		.flatMap(offersOf)
		.filter(({ price, interval }) => typeof price === 'number' && price > 0 && interval == null)
		.sort((one, other) => Number(one.price) - Number(other.price));
	if (!cheapest) {
		throw new Refusal('Nothing was charged: no active product has an offer without an interval.');
	}
	const { hash, price } = cheapest;
	return await service.post('/transactions', {
		api_token: secondToken ?? token,
		amount: price,
		payment_method: 'pix',
		cart: [{ offer_hash: hash, price, quantity: 1, operation_type: 1, title: 'First contact' }],
		installments: 1,
		customer,
		...(notify !== undefined && { webhook_url: notify }),
	});
}

async function createOffer(
	service: Service,
	productHash: string,
	products: IDataObject[],
): Promise<Answer> {
	const product = products.find(({ hash }) => String(hash) === productHash);
	const recurring = product && offersOf(product).find(({ interval }) => interval != null);
	return await service.post(`/products/${hashSegment(productHash)}/offers`, {
		title: 'First contact',
		price: OFFER_PRICE_CENTS,
		payment_methods: [3],
		method_default: 3,
		affiliates_visible: false,
		...(recurring && { interval: recurring.interval }),
	});
}

function offersOf({ offers }: IDataObject): IDataObject[] {
	return Array.isArray(offers) ? offers.filter(isJsonObject) : [];
}

/** Reads a transaction, and the same hash with its letters in the other case. */
async function readBothCases(service: Service, report: Report, hash: string): Promise<void> {
	const answer = await service.get(`/transactions/${hashSegment(hash)}`);
	report.addTransaction('GET /transactions/{hash}', answer);
	const other = hash.replace(/[a-z]/gi, (letter) =>
		letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
	);
	const again = await service.get(`/transactions/${hashSegment(other)}`);
	report.addTransaction('the same hash in the other case', again);
}
