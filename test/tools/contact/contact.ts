import type { IDataObject } from 'n8n-workflow';
import { readProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { parseJson } from '../../sandbox/http';
import { shapeOf } from './shape';

/** Half of the documented limit of 20 requests a minute. */
const APART_MS = 6_000;
const TIMEOUT_MS = 120_000;

export interface Settings {
	baseUrl: string;
	token: string;
	/** Sent in the body of a charge, if the account has one. */
	secondToken: string;
	customer: object;
	hashes: string[];
	charge: boolean;
	/** The product that gets an offer. */
	offer?: string;
	say: (text: string) => void;
	sleep: (ms: number) => Promise<unknown>;
}

/** Query parameters of GET /products that the document does not show. The first product answers for itself. */
const QUERIES = ({ title, id_category: category }: IDataObject): Record<string, string> => {
	const word = String(title).split(/\s/).at(-1) ?? '';
	const plain = word.normalize('NFD').replace(/\p{M}/gu, '');
	return {
		'per_page=1': 'per_page=1',
		'perPage=1': 'perPage=1',
		'page=2': 'page=2',
		'per_page=100': 'per_page=100',
		'search by a word of a title': `search=${encodeURIComponent(word)}`,
		'the same without accents': `search=${encodeURIComponent(plain)}`,
		'status=4': 'status=4',
		'categories: that of the first product': `categories=${String(category)}`,
	};
};

/**
 * Asks a real platform each question of docs/unknowns.md once, and says the answers: statuses, limits, and the names and
 * kinds in each body, never a value that may belong to a person.
 */
export async function contact(settings: Settings): Promise<void> {
	const { hashes, charge, offer } = settings;
	const read = async (what: string, hash: string, by = settings) =>
		await ask(by, what, `/transactions/${encodeURIComponent(hash)}`, (json) =>
			readTransaction(json) ? '; the package reads it' : '; the package reads no transaction',
		);

	const first = await ask(settings, 'GET /products', '/products');
	const products = readProductPage(first)?.data;
	if (!products)
		throw new Error('The first answer is no list of products: check address and token.');
	const [one] = products;
	for (const [what, query] of Object.entries(one ? QUERIES(one) : {})) {
		const describe = (json: unknown): string => {
			const found = readProductPage(json)?.data ?? [];
			const same = found[0]?.hash === one?.hash ? 'the same' : 'another';
			return `; ${found.length} products, ${same} first`;
		};
		const json = await ask(settings, what, `/products?${query}`, describe);
		products.push(...(readProductPage(json)?.data ?? []));
	}

	const known = new Set(hashes);
	if (charge) {
		const body = chargeOf(settings, products);
		const made = await ask(settings, 'POST /transactions', '/transactions', undefined, body);
		const hash = readTransaction(made)?.hash;
		if (hash !== undefined) known.add(hash);
	}
	if (offer !== undefined) {
		const path = `/products/${encodeURIComponent(offer)}/offers`;
		const body = offerOf(offer, products);
		await ask(settings, 'POST /products/{hash}/offers', path, undefined, body);
	}
	for (const hash of known) {
		const other = hash === hash.toUpperCase() ? hash.toLowerCase() : hash.toUpperCase();
		await read('GET /transactions/{hash}', hash);
		await read('the same hash in the other case', other);
	}
	await read('an unknown hash', 'nosuchhash');
	await read('without a token', 'nosuchhash', { ...settings, token: '' });
}

/**
 * Sends a GET, or a POST if there is a body, and repeats nothing.
 *
 * @param describe what the report says about the body of the answer
 * @returns the body of the answer; undefined if it is not JSON
 */
async function ask(
	{ baseUrl, token, say, sleep }: Settings,
	what: string,
	path: string,
	describe = (_json: unknown): string => '',
	body?: object,
): Promise<unknown> {
	await sleep(APART_MS);
	// Said before it is sent, so that a person knows of the POST however the command ends.
	if (body) say(`Sending a ${what} once.`);
	const answer = await fetch(baseUrl + path, {
		method: body ? 'POST' : 'GET',
		// A redirect would send the token to another address.
		redirect: 'manual',
		headers: {
			accept: 'application/json',
			...(token !== '' && { authorization: `Bearer ${token}` }),
			...(body && { 'content-type': 'application/json' }),
		},
		...(body && { body: JSON.stringify(body) }),
		signal: AbortSignal.timeout(TIMEOUT_MS),
		// The message of a failed request may quote its headers.
	}).catch(() => undefined);
	const json = parseJson((await answer?.text().catch(() => '')) ?? '');
	const limits = [...(answer?.headers ?? [])]
		.filter(([name]) => /rate-?limit|retry-after/.test(name))
		.map(([name, value]) => `; ${name}: ${value}`);
	const status = answer?.status ?? 'no answer';
	say(`## ${what}\n${status}${limits.join('')}${describe(json)}\n${shapeOf(json)}\n`);
	return json;
}

/** A charge for the cheapest active offer, at its own price. */
function chargeOf({ token, secondToken, customer }: Settings, products: IDataObject[]): object {
	const [cheapest] = products
		.filter(({ status }) => status === 1)
		.flatMap(offersOf)
		.filter(({ price, interval }) => typeof price === 'number' && price > 0 && interval == null)
		.sort((one, other) => Number(one.price) - Number(other.price));
	if (!cheapest) throw new Error('No active product has an offer without an interval.');
	const { hash, price } = cheapest;
	return {
		api_token: secondToken || token,
		amount: price,
		payment_method: 'pix',
		cart: [{ offer_hash: hash, price, quantity: 1, operation_type: 1, title: 'First contact' }],
		installments: 1,
		customer,
	};
}

function offerOf(productHash: string, products: IDataObject[]): object {
	const product = products.find(({ hash }) => String(hash) === productHash);
	const recurring = product && offersOf(product).find(({ interval }) => interval != null);
	return {
		title: 'First contact',
		price: 1_000,
		payment_methods: [3],
		method_default: 3,
		affiliates_visible: false,
		...(recurring && { interval: recurring.interval }),
	};
}

const offersOf = ({ offers }: IDataObject): IDataObject[] =>
	Array.isArray(offers) ? offers.filter(isJsonObject) : [];
