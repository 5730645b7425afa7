import { setTimeout as pause } from 'node:timers/promises';
import minBy from 'lodash/minBy';
import {
	isOnSale,
	type Product,
	productSchema,
	parseProductPage,
} from '../../../nodes/DigitalSales/api/schemas/product';
import { parseTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { parseJson } from '../../sandbox/http';
import { shapeOf } from './shape';

const TIMEOUT_MS = 120_000;

/** A platform that looks up the CPF needs a real customer. */
export const CUSTOMER = {
	name: 'Maria Exemplo',
	email: 'maria@example.com',
	phone_number: '11900000000',
	document: '52998224725',
};

export interface Settings {
	baseUrl: string;
	token: string;
	/** Sent in the body of a charge, if the account has one. */
	secondToken: string;
	customer: object;
	hashes: string[];
	charge: boolean;
	say: (text: string) => void;
	/** Time between two requests. */
	apartMs: number;
}

/** Query parameters of GET /products that the document does not show. The first product answers for itself. */
function queries({ title, id_category: category }: Product): Array<[what: string, query: string]> {
	const word = title?.split(/\s/).at(-1) ?? '';
	const plain = word.normalize('NFD').replace(/\p{M}/gu, '');
	return [
		...['per_page=1', 'perPage=1', 'page=2', 'per_page=100', 'status=4'].map(
			(query): [string, string] => [query, query],
		),
		['search by a word of a title', `search=${encodeURIComponent(word)}`],
		['the same without accents', `search=${encodeURIComponent(plain)}`],
		['categories: that of the first product', `categories=${category}`],
	];
}

/**
 * Asks a real platform each question of docs/unknowns.md once, and says the answers: statuses, limits, and the names and
 * kinds in each body, never a value that may belong to a person.
 */
export async function contact(settings: Settings): Promise<void> {
	const { hashes, charge } = settings;
	const inquiry = new Inquiry(settings);
	const { products } = inquiry;

	const first = await inquiry.ask('GET /products', '/products');
	if (!parseProductPage(first))
		throw new Error('The first answer is no list of products: check address and token.');
	for (const [what, query] of products.slice(0, 1).flatMap(queries))
		await inquiry.ask(what, `/products?${query}`);

	const known = new Set(hashes);
	if (charge) {
		const body = chargeOf(settings, products);
		const made = await inquiry.ask('POST /transactions', '/transactions', body);
		const hash = parseTransaction(made)?.hash;
		if (hash !== undefined) known.add(hash);
	}
	for (const hash of known) {
		const other = hash === hash.toUpperCase() ? hash.toLowerCase() : hash.toUpperCase();
		await inquiry.read('GET /transactions/{hash}', hash);
		await inquiry.read('the same hash in the other case', other);
	}
	await inquiry.read('an unknown hash', 'nosuchhash');
	await inquiry.read('without a token', 'nosuchhash', '');
}

class Inquiry {
	/** Of all answers. */
	readonly products: Product[] = [];

	constructor(private readonly settings: Settings) {}

	async read(what: string, hash: string, token?: string): Promise<void> {
		await this.ask(what, `/transactions/${encodeURIComponent(hash)}`, undefined, token);
	}

	/** Sends a GET, or a POST if there is a body, and repeats nothing. Returns the answer if it is JSON. */
	async ask(what: string, path: string, body?: object, token = this.settings.token) {
		const { baseUrl, say, apartMs } = this.settings;
		await pause(apartMs);
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
			body: body && JSON.stringify(body),
			signal: AbortSignal.timeout(TIMEOUT_MS),
			// The message of a failed request may quote its headers.
		}).catch(() => undefined);
		const json = parseJson(await answer?.text().catch(() => ''));

		const limits = [...(answer?.headers ?? [])]
			.filter(([name]) => /rate-?limit|retry-after/.test(name))
			.map(([name, value]) => `; ${name}: ${value}`);
		const status = answer?.status ?? 'no answer';
		say(`## ${what}\n${status}${limits.join('')}; ${this.found(json)}\n${shapeOf(json)}\n`);
		return json;
	}

	/** What the package finds in a body. */
	private found(json: unknown): string {
		const page = parseProductPage(json)?.data.map((product) => productSchema.parse(product));
		if (!page) return parseTransaction(json) ? 'a transaction' : 'no transaction';
		this.products.push(...page);
		const first = page[0]?.hash === this.products[0]?.hash ? 'the same' : 'another';
		return `${page.length} products, ${first} first`;
	}
}

/** A charge for the cheapest active offer, at its own price. */
function chargeOf({ token, secondToken, customer }: Settings, products: Product[]): object {
	const sold = products.filter(isOnSale).flatMap(({ offers }) => offers);
	const once = sold.filter(({ price, interval }) => Number(price) > 0 && interval == null);
	const cheapest = minBy(once, 'price');
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
