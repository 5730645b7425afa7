import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { IDataObject } from 'n8n-workflow';
import { createRedactor } from '../../../nodes/DigitalSales/api/redact';
import { readProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { hashSegment, isUsableHash } from '../../../nodes/DigitalSales/domain/text';
import { parseBaseUrl, parseWebAddress } from '../../../nodes/DigitalSales/domain/webAddress';
import { parseNotification } from '../../../nodes/DigitalSales/api/schemas/notification';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { parseJson } from '../../sandbox/http';
import { until } from '../../helpers/until';
import { type Answer, listen, type Listener, type Received, Service } from './outside';
import { Report } from './report';

export interface Outside {
	args: string[];
	environment: Record<string, string | undefined>;
	say: (text: string) => void;
	sleep: (ms: number) => Promise<void>;
	/** How long --listen waits. */
	noticeWithinMs: number;
}

const USAGE = `Usage: npx tsx test/tools/contact/main.ts [options]
  --hash <hash>            a transaction to read; may be repeated
  --charge                 sends one PIX charge, at the lowest price in the catalog
  --offer <product hash>   creates one offer of this product
  --listen <port>          waits for one webhook at 127.0.0.1
  --notify <url>           where the charge sends its webhooks: the public URL of your tunnel
DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN are read from the environment;
DIGITAL_SALES_SECOND_TOKEN and DIGITAL_SALES_CUSTOMER (JSON: name, email, phone_number, document)
are for --charge.`;

/** A service that looks up the CPF needs a real customer. */
const EXAMPLE_CUSTOMER = {
	name: 'Maria Exemplo',
	email: 'maria@example.com',
	phone_number: '11900000000',
	document: '52998224725',
};
/** The largest page that the package requests. */
const LARGE_PAGE = 250;
const OFFER_PRICE_CENTS = 1_000;

/** The reason why there is no report. Its sentence repeats no argument, which may be a token. */
class Refusal extends Error {}

/**
 * Asks the real service what its document leaves open, and reports the shapes of the answers, never the values. A
 * person compares the report with the table of docs/unknowns.md.
 *
 * @returns whether it made all requests
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

function refuseIf(isWrong: boolean, sentence: string): void {
	if (isWrong) throw new Refusal(sentence);
}

function readSettings({ args, environment }: Outside) {
	const { hash: hashes, ...values } = argumentsOf(args);
	const { offer, notify, charge } = values;
	const base = parseBaseUrl(environment.DIGITAL_SALES_BASE_URL ?? '');
	const token = tokenIn(environment, 'DIGITAL_SALES_TOKEN');
	// The sentence does not quote the value, because it may be a token.
	if ('problem' in base) {
		throw new Refusal(
			'DIGITAL_SALES_BASE_URL is empty or not a web address that ends with its path.',
		);
	}
	refuseIf(token === '', 'DIGITAL_SALES_TOKEN is empty.');
	const named = offer === undefined ? hashes : [...hashes, offer];
	refuseIf(!named.every(isUsableHash), '--hash and --offer need a hash.');
	refuseIf(
		notify !== undefined && !(charge && parseWebAddress(notify)),
		'--notify needs --charge, and an address with http:// or https://.',
	);
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

function tokenIn(environment: Outside['environment'], name: string): string {
	const token = environment[name]?.trim() ?? '';
	refuseIf(token !== '' && !SENDABLE.test(token), `${name} has characters that no token has.`);
	return token;
}

function customerIn(text: string | undefined): object {
	const customer = text ? parseJson(text) : EXAMPLE_CUSTOMER;
	if (isJsonObject(customer)) return customer;
	throw new Refusal(
		'DIGITAL_SALES_CUSTOMER is not JSON with name, email, phone_number and document.',
	);
}

async function meet(settings: Settings, { say, sleep, noticeWithinMs }: Outside): Promise<void> {
	const redact = createRedactor([settings.token, settings.secondToken]);
	const service = new Service(settings.baseUrl, settings.token, sleep);
	const report = new Report(redact, [settings.customer, ...settings.hashes, settings.offer]);
	const create = async (path: string, body: object): Promise<Answer> => {
		// Said before it is sent, so that a person knows of the POST however the command ends.
		say(`Sending a POST to ${path.split('/').pop()} once.`);
		return await service.ask(path, body);
	};
	const listener = settings.listen === undefined ? undefined : await listenAt(settings.listen);
	try {
		const products = await readCatalog(service, report);
		const hashes = new Set(settings.hashes);
		if (settings.charge) {
			const charged = await create('/transactions', chargeOf(settings, products));
			report.add('POST /transactions', charged);
			const made = readTransaction(charged.json);
			if (made) hashes.add(made.hash);
		}
		const { offer } = settings;
		if (offer !== undefined) {
			const path = `/products/${hashSegment(offer)}/offers`;
			report.add('POST /products/{hash}/offers', await create(path, offerOf(offer, products)));
		}
		if (listener) {
			say(`Waiting for one webhook on port ${listener.port}.`);
			const { received } = listener;
			const isAwaited = ({ body, text }: Received): boolean =>
				parseNotification(body) !== undefined || [...hashes].some((hash) => text.includes(hash));
			const heard = await until('a webhook', () => received.find(isAwaited), {
				withinMs: noticeWithinMs,
			}).catch(() => undefined);
			report.addWebhook(heard, received.length - (heard ? 1 : 0));
			const notice = parseNotification(heard?.body);
			if (notice) hashes.add(notice.hash);
		}
		for (const hash of hashes) {
			report.addTransaction('GET /transactions/{hash}', await service.ask(pathOf(hash)));
			const other = hash === hash.toUpperCase() ? hash.toLowerCase() : hash.toUpperCase();
			report.addTransaction('the same hash in the other case', await service.ask(pathOf(other)));
		}
		const unknown = `nosuch${randomBytes(5).toString('hex')}`;
		report.add('GET an unknown hash', await service.ask(pathOf(unknown)));
		report.add('GET without a token', await service.ask(pathOf('nosuch'), undefined, false));
	} finally {
		await listener?.close();
		// Also after an error, because a POST stays in the account.
		say(report.text());
	}
}

const pathOf = (hash: string): string => `/transactions/${hashSegment(hash)}`;

async function listenAt(port: string): Promise<Listener> {
	const listener = /^\d+$/.test(port) && (await listen(Number(port)).catch(() => undefined));
	if (listener) return listener;
	throw new Refusal('Nothing can listen at the port of --listen.');
}

/** Reads pages with each query parameter, and returns all products. */
async function readCatalog(service: Service, report: Report): Promise<IDataObject[]> {
	const first = await service.ask('/products');
	const page = readProductPage(first.json);
	report.add('GET /products', first);
	// Stops before anything is created.
	if (!page) {
		throw new Refusal(
			'The first answer is no list of products. Check DIGITAL_SALES_BASE_URL and DIGITAL_SALES_TOKEN.',
		);
	}
	const [one, another] = page.data;
	if (!one) return [];
	const products = [...page.data];
	const word = String(one.title).split(/\s/).at(-1) ?? '';
	const queries = {
		'per_page=1': { per_page: '1' },
		'perPage=1': { perPage: '1' },
		'page=2': { page: '2' },
		[`per_page=${LARGE_PAGE}`]: { per_page: String(LARGE_PAGE) },
		[`perPage=${LARGE_PAGE}`]: { perPage: String(LARGE_PAGE) },
		'search by a word of a title': { search: word },
		'the same without accents': { search: word.normalize('NFD').replace(/\p{M}/gu, '') },
		'status=4': { status: '4' },
		'categories: that of the first product': { categories: String(one.id_category) },
		'categories: two': { categories: `${one.id_category},${another?.id_category}` },
	};
	for (const [what, query] of Object.entries(queries)) {
		const answer = await service.ask(`/products?${new URLSearchParams(query).toString()}`);
		report.addPage(what, answer, page.data);
		products.push(...(readProductPage(answer.json)?.data ?? []));
	}
	return products;
}

/** A charge for the cheapest active offer, at its own price. */
function chargeOf({ token, secondToken, customer, notify }: Settings, products: IDataObject[]) {
	const [cheapest] = products
		.filter(({ status }) => status === 1)
		.flatMap(offersOf)
		.filter(({ price, interval }) => typeof price === 'number' && price > 0 && interval == null)
		.sort((one, other) => Number(one.price) - Number(other.price));
	if (!cheapest) {
		throw new Refusal('Nothing was charged: no active product has an offer without an interval.');
	}
	const { hash, price } = cheapest;
	return {
		api_token: secondToken || token,
		amount: price,
		payment_method: 'pix',
		cart: [{ offer_hash: hash, price, quantity: 1, operation_type: 1, title: 'First contact' }],
		installments: 1,
		customer,
		...(notify !== undefined && { webhook_url: notify }),
	};
}

function offerOf(productHash: string, products: IDataObject[]): object {
	const product = products.find(({ hash }) => String(hash) === productHash);
	const recurring = product && offersOf(product).find(({ interval }) => interval != null);
	return {
		title: 'First contact',
		price: OFFER_PRICE_CENTS,
		payment_methods: [3],
		method_default: 3,
		affiliates_visible: false,
		...(recurring && { interval: recurring.interval }),
	};
}

function offersOf({ offers }: IDataObject): IDataObject[] {
	return Array.isArray(offers) ? offers.filter(isJsonObject) : [];
}
